import type { AcquireAnswer, Gone, ReadWriteFacts, ReenterAnswer, Released } from '../answers.ts'
import type { Hint } from '../hint.ts'
import type { Ending, Reentry } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import {
  isUpgradable,
  isWriter,
  type RemoteReadWriteLock,
  type WaitingAttempt,
} from '../read-write-server.ts'
import { endsInMs } from '../remaining.ts'
import { promised, type Reply, replyWith } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import { countsForMs } from '../waiting-time.ts'
import type { Channels } from './channels.ts'
import { onlyLocks, refuseOthers } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'
import { holderOf, readWriteFacts } from './read-write-facts.ts'
import { hintIn, ReadWriteTurns } from './read-write-turns.ts'
import type { LockRecord } from './records/lock-record.ts'
import { type PlaceRecord, placeOf } from './records/waiting-record.ts'

export interface ReadWriteConnection {
  readonly server: MemoryLockServer
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

const GONE = { kind: 'gone' } as const

/**
 * One read-write lock on a server in memory. Each method does the same as the Redis script of that
 * name. Each request may be sent again.
 */
export class MemoryReadWriteLock implements RemoteReadWriteLock {
  readonly #connection: ReadWriteConnection
  readonly #clientId: string
  readonly #rawName: string

  constructor(connection: ReadWriteConnection, clientId: string, rawName: string) {
    this.#connection = connection
    this.#clientId = clientId
    this.#rawName = rawName
  }

  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void {
    const { owner, leaseMs, beside, waits, isLast } = attempt
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      const { readWrite } = record
      const { waiting } = readWrite
      dropIfDead(record, owner, now)
      const place = placeOf(waits ? this.#clientId : '', owner, beside)
      const { member, client } = place
      const wanted = isUpgradable(owner) ? 'upgradable' : 'read'
      // All readers and writers of a client share one place. Now a reader uses it, so the place
      // leaves the queue of the writers.
      if (wanted === 'read' && member === client) waiting.remove({ member, wanted: 'write' })
      const isHeld = readWrite.heldBy(owner) !== null
      const isShut =
        readWrite.mode === 'write' ? readWrite.heldBy(beside) === null : waiting.isShut(place, now)
      if (!isHeld && (isShut || (wanted === 'upgradable' && readWrite.hasUpgradable(now)))) {
        const sinceUs = waits && this.#waits(record, place, now, countsForMs(attempt))
        const since = sinceUs && wanted === 'upgradable' ? String(sinceUs) : ''
        const ttlMs = endsInMs(readWrite.ttlMs(now))
        return { kind: 'held', ttlMs, since, ...holderOf(record, '', now) } as const
      }
      readWrite.give(owner, 1, leaseMs, now)
      if (isLast || member !== client) waiting.remove(place)
      return granted(this.#lastToken(record, leaseMs, now))
    })
  }

  rereads({ owner, holds, leaseMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      dropIfDead(record, owner, now)
      if (record.readWrite.heldBy(owner) === null) return GONE
      record.readWrite.give(owner, holds, leaseMs, now)
      return granted(this.#lastToken(record, leaseMs, now))
    })
  }

  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void {
    const { server, counterMs } = this.#connection
    const { owner, leaseMs, beside, waits } = attempt
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      const { readWrite } = record
      const { waiting } = readWrite
      const place = placeOf(waits ? this.#clientId : '', owner, beside)
      if (readWrite.heldBy(owner) !== null) {
        readWrite.lengthen(owner, leaseMs, now)
        if (record.counter !== null) return granted(this.#lastToken(record, leaseMs, now))
      } else {
        const isUpgrade = isUpgradable(beside)
        // The owner has lost the upgradable lock. Another owner may have written since then.
        if (isUpgrade && readWrite.ttlMsOf(beside, now) === 'gone') return GONE
        const remaining = readWrite.mode === 'read' ? readWrite.dropDead(now) : readWrite.size
        // All readers and writers of a client share one place. Now a writer uses it, so the place
        // leaves the queue of the readers.
        if (place.member === place.client) waiting.remove({ member: place.member, wanted: 'read' })
        // An owner that waits for an upgrade comes before all others. This owner has released the
        // upgradable lock, so it must not come first any more.
        if (!isUpgrade) waiting.remove({ member: owner, wanted: 'upgrade' })
        const first = waiting.first('write', now)
        const isNext = isUpgrade || first === undefined || first.member === place.member
        const isFree =
          remaining === 0 || (isUpgrade && readWrite.mode === 'read' && remaining === 1)
        if (!isFree || !isNext || waiting.isPhase) {
          const ms = countsForMs(attempt)
          const since = waits ? String(this.#waits(record, place, now, ms)) : ''
          const held = { kind: 'held', since } as const
          if (!isFree)
            return {
              ...held,
              ttlMs: endsInMs(readWrite.ttlMs(now)),
              ...holderOf(record, beside, now),
            }
          // The lock is free, but readers of the current phase, or a client that has waited longer,
          // come first.
          const firstForMs = isNext ? 0 : waiting.countsForMs(first, now)
          const ttlMs = Math.max(waiting.phaseLeftMs(now), firstForMs)
          return { ...held, ttlMs, holder: '', ageMs: null }
        }
      }
      readWrite.give(owner, 1, leaseMs, now)
      waiting.remove(place)
      return granted(server.mint(record, now, { leaseMs, counterMs }))
    })
  }

  rewrites({ owner, token, holds, leaseMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      if (record.readWrite.heldBy(owner) === null || record.lastToken > token) return GONE
      record.readWrite.give(owner, holds, leaseMs, now)
      record.extendCounter(leaseMs, this.#connection.counterMs, now)
      return granted(0)
    })
  }

  lower({ owner, holds, token }: Ending, isLast: boolean, reply: Reply<Released>): void {
    this.#reply(reply, (record, now): Released => {
      const { readWrite } = onlyLocks(record)
      const { readWriteReleases } = this.#connection.server
      const publish = (message: string) => readWriteReleases.publish(this.#rawName, message)
      const turns = new ReadWriteTurns(readWrite, now, publish)
      const place = placeOf(this.#clientId, owner, '')
      if (isLast) readWrite.waiting.remove(place)
      const hold = readWrite.heldBy(owner)
      if (hold === null || (isWriter(owner) && token !== '' && record.lastToken > token)) {
        // An upgrade waits under the owner id, not under the client id.
        const hasLeft = readWrite.waiting.remove({ ...place, member: owner }) || isLast
        // The place that was removed may have been the first, so the next waiter gets a message.
        if (hasLeft && readWrite.mode !== 'write') {
          readWrite.dropDead(now)
          turns.wakeNext()
        }
        return GONE
      }
      if (holds > 0) {
        hold.holds = Math.min(hold.holds, holds)
        return { kind: 'kept' }
      }
      return { kind: 'freed', listeners: turns.freed(owner) }
    })
  }

  async forceRelease(owner: string, callMs: number): Promise<boolean> {
    const ending = { owner, holds: 0, token: '', callMs } as const
    const { kind } = await promised<Released>((reply) => this.lower(ending, false, reply))
    return kind === 'freed'
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const { pendingReleases } = this.#connection
    pendingReleases.abandon({ key: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.lower(ending, isLast(), reply),
    )
  }

  inspect(): Promise<ReadWriteFacts> {
    return this.#request((record, now) => {
      refuseOthers(record)
      return readWriteFacts(record, now)
    })
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    const { server } = this.#connection
    return this.#connection.listen(server.readWriteReleases, this.#rawName, (message) =>
      onHint(hintIn(message)),
    )
  }

  /**
   * Gives this client a place, or keeps its place for longer.
   *
   * @returns when the wait began, in µs of the server's time
   */
  #waits({ readWrite }: LockRecord, place: PlaceRecord, now: number, ms: number) {
    return readWrite.waiting.enter(place, this.#connection.server.tokenFloor(now), now, ms)
  }

  /**
   * Returns the last token of the lock, and keeps the token for longer. Issues a token if none is
   * stored.
   */
  #lastToken(record: LockRecord, leaseMs: number, now: number): number {
    const { server, counterMs } = this.#connection
    if (record.counter === null) return server.mint(record, now, { leaseMs, counterMs })
    record.extendCounter(leaseMs, counterMs, now)
    return record.counter.token
  }

  #reply<T>(reply: Reply<T>, verb: (record: LockRecord, now: number) => T): void {
    replyWith(this.#request(verb), reply)
  }

  #request<T>(verb: (record: LockRecord, now: number) => T): Promise<T> {
    const { server } = this.#connection
    return this.#connection.request((now) => verb(server.record(this.#rawName, now), now))
  }
}

/** Removes the owner's hold if its lease has expired. */
function dropIfDead({ readWrite }: LockRecord, owner: string, now: number): void {
  if (readWrite.heldBy(owner) !== null && readWrite.ttlMsOf(owner, now) === 'gone') {
    readWrite.dropDead(now)
  }
}

function granted(token: number) {
  return { kind: 'granted', token } as const
}
