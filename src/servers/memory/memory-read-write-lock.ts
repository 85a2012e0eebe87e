import type { AcquireAnswer, ReadWriteFacts, ReenterAnswer, Released, Seen } from '../answers.ts'
import type { Ending, Reentry } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { HeldSince, RemoteReadWriteLock, WaitingAttempt } from '../read-write-server.ts'
import { promised, type Reply, replyWith } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import { countsForMs } from '../waiting-time.ts'
import type { Channels } from './channels.ts'
import { onlyLocks, refuseOthers } from './kind-of-lock.ts'
import type { MemoryServer } from './memory-server.ts'
import { ReadWriteTurns } from './read-write-turns.ts'
import type { LockRecord } from './records/lock-record.ts'
import { ageMs, timeUs } from './records/moments.ts'
import { isUpgradable, isWriter, type ReadWriteRecord } from './records/read-write-record.ts'
import { GOES_ON, type Wanted, waitingClients } from './records/waiting-record.ts'

/** What one read-write lock needs of its connection. */
export interface ReadWriteConnection {
  readonly server: MemoryServer
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

const GONE = { kind: 'gone' } as const

/**
 * One read-write lock on a server in memory. Each verb does what the script of its name does on a
 * server of Redis, and can be repeated as that can.
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
      // Who asks now is the one of its client who waits.
      if (waits) waiting.leave(this.#clientId, 'write')
      const isHeld = readWrite.heldBy(owner) !== null
      const isShut =
        readWrite.mode === 'write' ? readWrite.heldBy(beside) === null : waiting.isShut(now)
      if (!isHeld && (isShut || (isUpgradable(owner) && readWrite.hasUpgradable(now)))) {
        if (waits) this.#waits(record, 'read', now, countsForMs(attempt))
        return { kind: 'held', ttlMs: Math.max(readWrite.ttlMs(now), -1), ...holderOf(record, now) }
      }
      readWrite.give(owner, 1, leaseMs, now)
      if (waits && isLast) waiting.leave(this.#clientId, 'read')
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

  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | HeldSince>): void {
    const { server, counterMs } = this.#connection
    const { owner, leaseMs, beside, waits } = attempt
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      const { readWrite } = record
      const { waiting } = readWrite
      if (readWrite.heldBy(owner) !== null) {
        readWrite.lengthen(owner, leaseMs, now)
        if (record.counter !== null) return granted(this.#lastToken(record, leaseMs, now))
      } else {
        const goesOn = isUpgradable(beside) && readWrite.heldBy(beside) !== null
        const left = readWrite.mode === 'read' ? readWrite.dropDead(now) : readWrite.size
        const isAlone = left === 1 && readWrite.heldBy(beside) !== null
        const mayGoOn = readWrite.mode === 'read' && goesOn && isAlone
        // Who asks now is the one of its client who waits.
        if (waits) waiting.leave(this.#clientId, 'read')
        const first = waiting.first('write', now)
        const isNext = first === undefined || (waits && first.client === this.#clientId)
        if (!mayGoOn && (left > 0 || !isNext || waiting.isPhase)) {
          const ms = countsForMs(attempt)
          const since = waits ? String(this.#waits(record, 'write', now, ms, goesOn)) : ''
          const held = { kind: 'held', since, ...holderOf(record, now) } as const
          if (left > 0) return { ...held, ttlMs: readWrite.ttlMs(now) }
          // Nobody has it: it is for those who are let in to read, and for who has waited for longer.
          const firstForMs = isNext ? 0 : waiting.countsForMs(first.client, now)
          const ttlMs = Math.max(waiting.phaseLeftMs(now), firstForMs)
          return { ...held, ttlMs }
        }
      }
      readWrite.give(owner, 1, leaseMs, now)
      if (waits) waiting.leave(this.#clientId, 'write')
      return granted(server.mint(record, now, { leaseMs, counterMs }))
    })
  }

  rewrites({ owner, token, holds, leaseMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    this.#reply(reply, (record, now) => {
      refuseOthers(record)
      if (record.readWrite.heldBy(owner) === null || record.lastToken > token) return GONE
      record.readWrite.give(owner, holds, leaseMs, now)
      record.keepCounter(leaseMs, this.#connection.counterMs, now)
      return granted(0)
    })
  }

  release({ owner, holds, token }: Ending, isLast: boolean, reply: Reply<Released>): void {
    this.#reply(reply, (record, now): Released => {
      const { readWrite } = onlyLocks(record)
      const { mode } = readWrite
      const { readWriteReleases } = this.#connection.server
      const tell = (message: string) => readWriteReleases.publish(this.#rawName, message)
      const turns = new ReadWriteTurns(readWrite.waiting, now, tell)
      if (isLast) readWrite.waiting.leave(this.#clientId, isWriter(owner) ? 'write' : 'read')
      const hold = readWrite.heldBy(owner)
      if (hold === null || (isWriter(owner) && token !== '' && record.lastToken > token)) {
        // Whoever waited behind the one who has left is next now.
        if (isLast && mode !== 'write') turns.tellNext({ isRead: mode === 'read' })
        return GONE
      }
      if (holds > 0) {
        hold.holds = Math.min(hold.holds, holds)
        return { kind: 'kept' }
      }
      // Where the lease that ends is the longest, the lock is to last for as long as those that are left.
      const wasLongest = readWrite.ttlMs(now) - readWrite.ttlMsOf(owner, now) < 100
      readWrite.remove(owner)
      const listeners = isWriter(owner)
        ? turns.wake({ isRead: readWrite.dropDead(now) > 0, wasWritten: true })
        : mode === 'read'
          ? afterReading(readWrite, turns, owner, wasLongest, now)
          : 0
      return { kind: 'freed', listeners }
    })
  }

  async forceRelease(owner: string, callMs: number): Promise<boolean> {
    const ending = { owner, holds: 0, token: '', callMs } as const
    const { kind } = await promised<Released>((reply) => this.release(ending, false, reply))
    return kind === 'freed'
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const { pendingReleases } = this.#connection
    pendingReleases.abandon({ key: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.release(ending, isLast(), reply),
    )
  }

  inspect(): Promise<ReadWriteFacts> {
    return this.#request((record, now) => {
      refuseOthers(record)
      const { readWrite } = record
      const alive = readWrite.owners.filter((owner) => readWrite.ttlMsOf(owner, now) !== -2)
      const holders = alive.map((owner) => {
        const ttlMs = readWrite.ttlMsOf(owner, now)
        const holdCount = readWrite.heldBy(owner)?.holds ?? 0
        return { owner, holdCount, ttlMs: ttlMs < 0 ? null : ttlMs }
      })
      return {
        mode: holders.length === 0 ? null : readWrite.mode,
        holders,
        token: record.counter?.token ?? null,
        waitingToRead: waitingClients(readWrite.waiting, 'read', timeUs(now)),
        waitingToWrite: waitingClients(readWrite.waiting, 'write', timeUs(now)),
      }
    })
  }

  listen(onWake: (message?: string) => void): Subscription {
    const { server } = this.#connection
    return this.#connection.listen(server.readWriteReleases, this.#rawName, onWake)
  }

  /** This client waits. @returns since when, as the server tells time */
  #waits({ readWrite }: LockRecord, wanted: Wanted, now: number, ms: number, goesOn = false) {
    const fromUs = goesOn ? GOES_ON : this.#connection.server.tokenFloor(now)
    return readWrite.waiting.enter(this.#clientId, wanted, fromUs, now, ms)
  }

  /** The token of the last writer, which is remembered for longer. */
  #lastToken(record: LockRecord, leaseMs: number, now: number): number {
    const { server, counterMs } = this.#connection
    if (record.counter === null) return server.mint(record, now, { leaseMs, counterMs })
    record.keepCounter(leaseMs, counterMs, now)
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

/** One whose time ran out has it no more, though nobody has looked since. */
function dropIfDead({ readWrite }: LockRecord, owner: string, now: number): void {
  if (readWrite.heldBy(owner) !== null && readWrite.ttlMsOf(owner, now) === -2) {
    readWrite.dropDead(now)
  }
}

/**
 * Who waits to write is told when nobody reads any more, and who reads and is to write when it is alone.
 *
 * @returns how many were told that it is free
 */
function afterReading(
  readWrite: ReadWriteRecord,
  turns: ReadWriteTurns,
  owner: string,
  wasLongest: boolean,
  now: number,
): number {
  const writer = readWrite.waiting.first('write', now)
  const left = writer || wasLongest ? readWrite.dropDead(now) : readWrite.size
  if (left === 0) return turns.wake({ isRead: false, wasWritten: false })
  if (writer === undefined && isUpgradable(owner)) turns.tellNext({ isRead: true })
  if (left === 1 && writer?.sinceUs === GOES_ON) turns.publish(String(GOES_ON))
  return 0
}

function granted(token: number) {
  return { kind: 'granted', token } as const
}

/** One who has it; and who writes for how long, by the token. */
function holderOf({ readWrite, counter }: LockRecord, now: number): Seen {
  const [holder = ''] = readWrite.owners
  return { holder, ageMs: readWrite.mode === 'write' && counter ? ageMs(counter.token, now) : null }
}
