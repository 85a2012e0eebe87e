import type { LeaseToRenew, Released } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import { permitHolders } from '../permit-holders.ts'
import { type PermitAnswer, type PermitAttempt, permitsOf } from '../permit-pool.ts'
import type {
  PermitChange,
  PermitFacts,
  PermitServer,
  Remembered,
  RemotePermits,
} from '../permit-server.ts'
import type { RenewedLease } from '../remaining.ts'
import { type Reply, replyWith } from '../reply.ts'
import type { LoweredHold } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { refuseOtherKinds } from './kind-of-lock.ts'
import { MemoryPool, type PoolConnection, waitingFacts } from './memory-pool.ts'
import { acquiredPermits, checkAgainMs, ownersIn, someHolders } from './permit-facts.ts'
import { timeUs } from './records/moments.ts'

interface PermitMemoryConnection extends PoolConnection {
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** The semaphores with leases on a server in memory, as one client uses them. */
export class MemoryPermitServer implements PermitServer {
  readonly #connection: PermitMemoryConnection
  readonly #clientId: string

  constructor(connection: PermitMemoryConnection, clientId: string) {
    this.#connection = connection
    this.#clientId = clientId
  }

  pool(rawName: string): RemotePermits {
    return new MemoryPermits(new MemoryPool(this.#connection, this.#clientId, rawName, 'permits'))
  }

  groups(locks: readonly { readonly key: string }[]): number[][] {
    return this.#connection.groups(locks)
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number): Promise<RenewedLease[]> {
    const { server, counterMs } = this.#connection
    return this.#connection
      .request((now) =>
        leases.map(({ key, wireOwner }) => {
          const record = server.record(key, now)
          const untilMs = record.semaphore.takenUntil(wireOwner) ?? 0
          const [nowMs, leftMs] = [Math.floor(now), untilMs - Math.floor(now)]
          if (leftMs <= 0) return 'gone'
          if (leaseMs === 0) return leftMs
          record.semaphore.lengthen(wireOwner, nowMs + leaseMs)
          record.extendCounter(leaseMs, counterMs, now)
          return Math.max(leftMs, leaseMs)
        }),
      )
      .catch((failure: CallFailure) => leases.map(() => failure))
  }
}

/**
 * One semaphore with leases on a server in memory. Each method does the same as the Redis script of
 * that name. Each request may be sent again.
 */
class MemoryPermits implements RemotePermits {
  readonly #pool: MemoryPool

  constructor(pool: MemoryPool) {
    this.#pool = pool
  }

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const { owner, leaseMs, waits, isLast, limit } = attempt
    const pool = this.#pool
    const { server, counterMs } = pool.connection
    const client = waits ? pool.clientId : ''
    const acquired = pool.request((record, now): PermitAnswer => {
      const { semaphore } = record
      const { waiting } = semaphore
      const wasSet = semaphore.isSet
      const [permits, sinceUs] = [permitsOf(owner), waits ? pool.sinceUs(attempt, now) : 0]
      semaphore.giveBackExpired(now)
      if (limit !== undefined && !wasSet) {
        semaphore.add(limit - semaphore.taken - semaphore.available)
        semaphore.kind = 'permits'
      }
      const isSet = wasSet || limit !== undefined
      const { available, taken } = semaphore
      const isRepeat = semaphore.has(owner)
      if (!isRepeat && isSet && available + taken > 0 && permits > available + taken) {
        if (waits) waiting.goOn(client, isLast, now)
        pool.wakeNext(semaphore, now, isLast ? undefined : client)
        return { kind: 'tooMany', available, taken }
      }
      if (!isRepeat && (!waiting.isNext(client, sinceUs, now) || permits > available)) {
        if (waits) waiting.enter(client, sinceUs, permits, now)
        const ttlMs = checkAgainMs(semaphore, client, now)
        // The client that is next may have missed its message, so the server sends the message
        // again.
        pool.wakeNext(semaphore, now, client)
        const holders = waits ? someHolders(semaphore, now) : []
        const seen = { isSet, available, taken, holders }
        return { kind: 'held', ttlMs, since: waits ? String(sinceUs) : '', seen }
      }
      const endsAt = Math.floor(now) + leaseMs
      if (isRepeat) semaphore.lengthen(owner, endsAt)
      else semaphore.takePermits(owner, endsAt, timeUs(now))
      if (waits) waiting.goOn(client, isLast, now)
      pool.wakeNext(semaphore, now, isLast ? undefined : client)
      const token = server.mint(record, now, { leaseMs, counterMs })
      const inAll = available + taken
      const isOther = limit !== undefined && limit !== inAll
      return isOther ? { kind: 'granted', token, inAll } : { kind: 'granted', token }
    })
    replyWith(acquired, reply)
  }

  giveBack({ owner }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    const pool = this.#pool
    const released = pool.request(({ semaphore }, now): Released => {
      semaphore.giveBackExpired(now)
      const wasTaken = semaphore.giveBack(owner)
      if (isLast) semaphore.waiting.remove(pool.clientId)
      pool.wakeNext(semaphore, now)
      return wasTaken ? { kind: 'freed', listeners: 0 } : { kind: 'gone' }
    })
    replyWith(released, reply)
  }

  stopWaiting(): void {
    const nobody: LoweredHold = { owner: '', holds: 0, token: '', callMs: 0 }
    this.giveBack(nobody, true, { answered: () => {}, failed: () => {} })
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const { pendingReleases } = this.#pool.connection
    pendingReleases.abandon({ key: this.#pool.rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.giveBack(ending, isLast(), reply),
    )
  }

  change({ how, permits, request, keptMs }: PermitChange): Promise<number> {
    const pool = this.#pool
    const { server } = pool.connection
    return pool.connection.request((now) => {
      const record = server.record(pool.rawName, now)
      const { semaphore } = record
      const { requests, waiting, isSet } = semaphore
      const done = requests.get(request)
      if (done !== undefined) return Number(done)
      refuseOtherKinds(record, 'permits')
      if (how === 'try-set' && isSet) {
        requests.set(request, 0, now + keptMs)
        return 0
      } else if (how === 'delete') {
        const wereTaken = semaphore.deleteTaken()
        const deleted = semaphore.delete() || wereTaken ? 1 : 0
        requests.set(request, deleted, now + keptMs)
        // The request of the client that is next may set the number of permits again.
        const next = waiting.first(now)
        if (next !== undefined) pool.publish(next.client)
        return deleted
      }
      semaphore.giveBackExpired(now)
      const { available, taken } = semaphore
      const result = how === 'drain' ? Math.max(available, 0) : 1
      if (how === 'add') semaphore.add(permits)
      else if (how !== 'drain') semaphore.add(permits - available - taken)
      // A semaphore without a number has no permits to remove.
      else if (isSet) semaphore.add(-result)
      if (how !== 'drain') semaphore.kind = 'permits'
      requests.set(request, result, now + keptMs)
      const first = waiting.first(now)
      const isEnough = first !== undefined && first.permits <= semaphore.available
      // The client that is next also gets a message if it wants more permits than exist. The answer
      // to its next request says so.
      if (isEnough || (first && first.permits > semaphore.available + taken))
        pool.publish(first.client)
      return result
    })
  }

  releaseIds(ids: readonly string[], { request, keptMs }: Remembered): Promise<boolean> {
    const pool = this.#pool
    const { server } = pool.connection
    return pool.connection.request((now) => {
      const record = server.record(pool.rawName, now)
      const { semaphore } = record
      const done = semaphore.requests.get(request)
      if (done !== undefined) return done === 1
      refuseOtherKinds(record, 'permits')
      const { available } = semaphore
      semaphore.giveBackExpired(now)
      const isWhole = semaphore.giveBackIds(new Set(ids)) === ids.length
      semaphore.requests.set(request, isWhole ? 1 : 0, now + keptMs)
      if (semaphore.available > available) pool.wakeNext(semaphore, now)
      return isWhole
    })
  }

  inspect(most: number): Promise<PermitFacts> {
    return this.#pool.request(({ semaphore }, now) => {
      const takers = semaphore.takers.filter(([, { endsAt }]) => endsAt > now)
      const taken = takers.reduce((sum, [, { ids }]) => sum + ids.length, 0)
      const available = semaphore.available + semaphore.taken - taken
      const acquired = acquiredPermits(takers, most, now)
      return {
        permits: semaphore.isSet || taken > 0 ? available + taken : null,
        available,
        taken,
        acquired,
        holders: permitHolders(acquired, ownersIn(takers, now), taken),
        waiting: waitingFacts(semaphore, most, now),
      }
    })
  }

  listen(onWake: (message?: string) => void): Subscription {
    return this.#pool.listen(onWake)
  }
}
