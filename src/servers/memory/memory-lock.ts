import {
  type AcquireAnswer,
  clientOf,
  type HandOverAnswer,
  type Held,
  type HolderFacts,
  type LockFacts,
  MOST_LISTED,
  type ReenterAnswer,
  type Released,
  type SeenHold,
} from '../answers.ts'
import { type Hint, releaseHint } from '../hint.ts'
import type { Attempt, Ending, Passing, Reentry, RemoteLock } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import { ageMs } from '../records/moments.ts'
import { endsInMs, shownTtlMs } from '../remaining.ts'
import { type Reply, replyWith } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { onlyLocks, refuseReadWrite } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'

interface LockMemoryConnection {
  readonly server: MemoryLockServer
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

const GONE = { kind: 'gone' } as const

/**
 * One lock on a server in memory. Each method does the same as the Redis script of that name. Each
 * request may be sent again.
 */
export class MemoryLock implements RemoteLock {
  readonly #connection: LockMemoryConnection
  readonly #rawName: string

  constructor(connection: LockMemoryConnection, rawName: string) {
    this.#connection = connection
    this.#rawName = rawName
  }

  acquire({ owner, leaseMs, reserve }: Attempt, reply: Reply<AcquireAnswer>): void {
    const { server, counterMs } = this.#connection
    this.#reply(reply, (record, now) => {
      if (record.heldBy(owner) !== null) {
        record.lengthen(leaseMs, counterMs, now)
        if (record.counter !== null) return grantOf(record.counter.token)
      } else if (record.holder !== null) return heldBy(record, now)
      else record.give(owner, now + leaseMs)
      return grantOf(server.mint(record, now, { leaseMs, counterMs, reserve }), reserve)
    })
  }

  reenter({ owner, token, holds, leaseMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    this.#reply(reply, (record, now) => {
      const hold = record.heldBy(owner)
      if (hold === null || record.lastToken > token) return GONE
      hold.holds = Math.max(hold.holds, holds)
      record.lengthen(leaseMs, this.#connection.counterMs, now)
      return grantOf(0)
    })
  }

  handOver({ from, to, listening, reserve }: Passing, reply: Reply<HandOverAnswer>): void {
    const { server, counterMs } = this.#connection
    this.#reply(reply, (record, now) => {
      // The new owner holds the lock, so an earlier copy of this request has finished the
      // hand-over.
      if (record.heldBy(to.owner) !== null) return grantOf(record.lastToken || from.token)
      if (record.heldBy(from.owner) === null || record.lastToken > from.token) return GONE
      const others = listening === null ? 0 : server.releases.count(this.#rawName) - listening
      if (others > 0) {
        server.free(record)
        return { kind: 'yielded' as const, others }
      }
      const { owner, leaseMs } = to
      record.give(owner, now + leaseMs)
      const token = server.mint(record, now, { leaseMs, counterMs, reserve, above: from.token })
      return grantOf(token, reserve)
    })
  }

  lower({ owner, holds, token }: Ending, reply: Reply<Released>): void {
    const { server } = this.#connection
    const released = this.#connection.request((now): Released => {
      const record = onlyLocks(server.record(this.#rawName, now))
      const hold = record.heldBy(owner)
      if (hold === null || (token !== '' && record.lastToken > token)) return GONE
      if (holds === 0) return { kind: 'freed', listeners: server.free(record) }
      hold.holds = Math.min(hold.holds, holds)
      return { kind: 'kept' }
    })
    replyWith(released, reply)
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    const { pendingReleases } = this.#connection
    const of = { key: this.#rawName, owner }
    pendingReleases.abandon(of, untilMs, leaseMs, (ending, reply) => this.lower(ending, reply))
  }

  seen(): Promise<SeenHold | null> {
    return this.#request(({ holder, counter }) =>
      holder === null ? null : { owner: holder.owner, token: counter?.token ?? null },
    )
  }

  forceRelease({ owner, token }: SeenHold): Promise<boolean> {
    return this.#request((record) => {
      if (record.heldBy(owner) === null) return false
      if (token !== null && record.lastToken > token) return false
      this.#connection.server.free(record)
      return true
    })
  }

  peek(): Promise<HolderFacts> {
    return this.#request(holderFacts)
  }

  inspect(): Promise<LockFacts> {
    return this.#request((record, now) => {
      const queue = record.queueEntries(now, MOST_LISTED)
      const listeners = this.#connection.server.releases.count(this.#rawName)
      return {
        ...holderFacts(record, now),
        waiters: Math.max(listeners, new Set(queue.map(({ owner }) => clientOf(owner))).size),
        queue,
        queueLength: record.queue.size,
      }
    })
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    const { releases } = this.#connection.server
    return this.#connection.listen(releases, this.#rawName, (message) =>
      onHint(releaseHint(message)),
    )
  }

  #reply<T>(reply: Reply<T>, verb: (record: LockRecord, now: number) => T): void {
    replyWith(this.#request(verb), reply)
  }

  /**
   * Calls `verb` with the record of the lock. Refuses the name of a read-write lock, a latch or a
   * semaphore.
   */
  #request<T>(verb: (record: LockRecord, now: number) => T): Promise<T> {
    const { server } = this.#connection
    return this.#connection.request((now) => {
      const record = server.record(this.#rawName, now)
      refuseReadWrite(record)
      return verb(record, now)
    })
  }
}

/**
 * Returns the refusal, with the holder. The age of the hold is the age of the token, because a
 * token is the time of its grant.
 */
export function heldBy(record: LockRecord, now: number): Held {
  const { holder, counter } = record
  const heldMs = counter && ageMs(counter.token, now)
  return {
    kind: 'held',
    ttlMs: endsInMs(record.ttlMs(now)),
    holder: holder?.owner ?? '',
    ageMs: heldMs,
  }
}

function holderFacts(record: LockRecord, now: number): HolderFacts {
  const { holder, counter } = record
  const ttlMs = record.ttlMs(now)
  return {
    holder: holder?.owner ?? null,
    holdCount: holder?.holds ?? 0,
    ttlMs: shownTtlMs(ttlMs),
    token: counter?.token ?? null,
  }
}

function grantOf(token: number, reserved = 0) {
  return { kind: 'granted', token, reserved } as const
}
