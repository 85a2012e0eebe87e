import type { Released, SemaphoreFacts } from '../answers.ts'
import {
  type PermitAnswer,
  type PermitAttempt,
  type PermitsSeen,
  permitsOf,
} from '../permit-pool.ts'
import { type Reply, replyWith } from '../reply.ts'
import type { LoweredHold } from '../requests.ts'
import {
  type Addition,
  GIVING_BACK_MS,
  type RemoteSemaphore,
  type SemaphoreChange,
} from '../semaphore-server.ts'
import type { Subscription } from '../subscription.ts'
import { type MemoryPool, waitingFacts } from './memory-pool.ts'
import type { SemaphoreRecord } from './records/semaphore-record.ts'

/** Notes which requests of the client were answered, so that the server can forget them. */
interface AnsweredRequests {
  /** How long the server remembers the result of a request, in milliseconds. */
  readonly keptMs: number
  acknowledge(rawName: string, id: string): void
  unacknowledge(rawName: string, id: string): void
  takeIds(rawName: string): Iterable<string>
}

/**
 * One semaphore without leases on a server in memory. Each method does the same as the Redis script
 * of that name. Each request may be sent again.
 */
export class MemorySemaphore implements RemoteSemaphore {
  readonly #host: AnsweredRequests
  readonly #pool: MemoryPool

  constructor(host: AnsweredRequests, pool: MemoryPool) {
    this.#host = host
    this.#pool = pool
  }

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const { owner, waits, isLast } = attempt
    const pool = this.#pool
    const client = waits ? pool.clientId : ''
    const acquired = this.#named(owner, (semaphore, now, done): PermitAnswer => {
      const { waiting, requests, isSet, available } = semaphore
      const seen: PermitsSeen = { isSet, available, taken: null, holders: [] }
      const [permits, endsAt] = [permitsOf(owner), now + this.#host.keptMs]
      if (done === 'returned') return { kind: 'held', ttlMs: Infinity, seen }
      if (done !== undefined) {
        requests.prolong(owner, endsAt)
        return { kind: 'granted', token: 0 }
      }
      const sinceUs = waits ? pool.sinceUs(attempt, now) : 0
      const wasFirst = waits && waiting.first(now)?.client === client
      if (semaphore.available >= permits && waiting.isNext(client, sinceUs, now)) {
        semaphore.add(-permits)
        requests.set(owner, permits, endsAt)
        if (waits) waiting.goOn(client, isLast, now)
        pool.wakeNext(semaphore, now, isLast ? undefined : client)
        return { kind: 'granted', token: 0 }
      }
      if (!waits) return { kind: 'held', ttlMs: Infinity, seen }
      waiting.enter(client, sinceUs, permits, now)
      const first = waiting.first(now)
      const isOther = first !== undefined && first.client !== client
      // The client's place belonged to a waiter that began to wait earlier. The place has moved
      // back, so another client may be next.
      if (wasFirst && isOther) pool.wakeNext(semaphore, now)
      const ttlMs = isOther ? Math.max(0, Math.ceil(first.untilMs + 1 - now)) : Infinity
      return { kind: 'held', ttlMs, since: String(sinceUs), seen }
    })
    replyWith(acquired, {
      answered: (answer) => {
        if (answer.kind === 'granted') this.#host.acknowledge(pool.rawName, owner)
        reply.answered(answer)
      },
      failed: (failure) => reply.failed(failure),
    })
  }

  giveBack({ owner }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    replyWith(this.#giveBack(owner, isLast, 0), reply)
  }

  abandon(owner: string, untilMs: number, _leaseMs: number, isLast: () => boolean): void {
    const pool = this.#pool
    this.#host.unacknowledge(pool.rawName, owner)
    const keptMs = untilMs > pool.connection.server.clock.monotonic() ? this.#host.keptMs : 0
    const send = () => this.#giveBack(owner, isLast(), keptMs)
    pool.connection.pendingReleases.add({
      send,
      of: { key: pool.rawName, owner },
      untilMs,
      leaseMs: GIVING_BACK_MS,
    })
  }

  stopWaiting(): void {
    const pool = this.#pool
    const removed = pool.request(({ semaphore }, now) => {
      const wasFirst = semaphore.waiting.first(now)?.client === pool.clientId
      semaphore.waiting.remove(pool.clientId)
      if (wasFirst) pool.wakeNext(semaphore, now)
    })
    // If the request is lost, the place expires by itself.
    removed.catch(() => {})
  }

  add(change: Addition): Promise<boolean> {
    const { id, permits, ifExists } = change
    return this.#acknowledged(id, (semaphore, now, done) => {
      const { requests } = semaphore
      const endsAt = now + this.#host.keptMs
      if (done !== undefined) {
        requests.prolong(id, endsAt)
        return done !== 0
      }
      const isThere = semaphore.isSet || !ifExists
      requests.set(id, isThere ? 1 : 0, endsAt)
      if (isThere) {
        if (!semaphore.isSet) semaphore.kind = 'semaphore'
        semaphore.add(permits)
        this.#pool.wakeNext(semaphore, now)
      }
      return isThere
    })
  }

  addLater(change: Addition): void {
    const send = () => this.add(change)
    const pending = { send, untilMs: 0, leaseMs: GIVING_BACK_MS }
    this.#pool.connection.pendingReleases.add(pending)
  }

  change({ id, what, permits, ttlMs }: SemaphoreChange): Promise<number> {
    return this.#acknowledged(id, (semaphore, now, done) => {
      const { requests, available, isSet } = semaphore
      const endsAt = now + this.#host.keptMs
      if (done !== undefined) {
        requests.prolong(id, endsAt)
        return Number(done)
      }
      let result = 0
      if (what === 'add') {
        result = semaphore.add(permits)
        semaphore.kind = 'semaphore'
      } else if (what === 'delete') {
        result = semaphore.delete() ? 1 : 0
        const next = semaphore.waiting.first(now)
        if (next !== undefined) this.#pool.publish(next.client)
      } else if (what === 'drain') {
        result = Math.max(available, 0)
        if (result > 0) semaphore.add(-result)
      } else if (!isSet) {
        result = 1
        semaphore.add(permits)
        semaphore.kind = 'semaphore'
        if (ttlMs > 0) semaphore.endAt(now + ttlMs)
      }
      requests.set(id, result, endsAt)
      if (semaphore.available > available) this.#pool.wakeNext(semaphore, now)
      return result
    })
  }

  inspect(most: number): Promise<SemaphoreFacts> {
    return this.#pool.request(({ semaphore }, now) => ({
      isSet: semaphore.isSet,
      available: semaphore.available,
      waiting: waitingFacts(semaphore, most, now),
    }))
  }

  listen(onWake: (message?: string) => void): Subscription {
    return this.#pool.listen(onWake)
  }

  #giveBack(owner: string, isLast: boolean, keptMs: number): Promise<Released> {
    const pool = this.#pool
    return this.#named(owner, (semaphore, now, done): Released => {
      const { waiting, requests } = semaphore
      const wasFirst = isLast && waiting.first(now)?.client === pool.clientId
      if (isLast) waiting.remove(pool.clientId)
      if (keptMs > 0) requests.set(owner, 'returned', now + keptMs)
      else if (done !== 'returned') requests.forget([owner])
      // If the semaphore was deleted since the acquisition, the release does not create it again.
      const isBack = typeof done === 'number' && semaphore.isSet
      if (isBack) semaphore.add(done)
      if (isBack || wasFirst) pool.wakeNext(semaphore, now)
      return isBack ? { kind: 'freed', listeners: 0 } : { kind: 'gone' }
    })
  }

  async #acknowledged<T>(id: string, verb: StoredRun<T>): Promise<T> {
    const answer = await this.#named(id, verb)
    this.#host.acknowledge(this.#pool.rawName, id)
    return answer
  }

  /**
   * Calls `verb` with the stored result of the request, if the request ran before.
   *
   * @param id the id under which the server stores the result
   */
  #named<T>(id: string, verb: StoredRun<T>): Promise<T> {
    const { rawName } = this.#pool
    const answered = this.#host.takeIds(rawName)
    return this.#pool.request(({ semaphore }, now) => {
      const done = semaphore.requests.get(id)
      semaphore.requests.forget(answered)
      return verb(semaphore, now, done)
    })
  }
}

/**
 * @param done the result of an earlier run; undefined before the first run. 'returned' means that
 * the permits were given back
 */
type StoredRun<T> = (
  semaphore: SemaphoreRecord,
  now: number,
  done: number | 'returned' | undefined,
) => T
