import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { CallFailure } from '../call-failure.ts'
import type { FairGrant } from '../fair-server.ts'
import type { ClientInfo } from '../presence.ts'
import { Channels } from './channels.ts'
import { LockRecord } from './records/lock-record.ts'
import { timeUs } from './records/moments.ts'

/** From so many locks on those that nobody has, wants or remembers are looked for. */
const FEW = 1_024

/** Why nobody is answered in an outage. */
export const OUT = new CallFailure('unsent', 'the server in memory is down')

/** How a token is issued. */
interface Minting {
  readonly leaseMs: number
  /** How long the last token is remembered, in milliseconds; 0 is for good. */
  readonly counterMs: number
  /** How many tokens are wanted beside the one. */
  readonly reserve?: number
  /** A token that is known to the caller, and maybe to nobody else. */
  readonly above?: number
}

/** A connection that is open. */
interface Connected {
  /** Everything there may be another than it was. */
  lookAgain(): void
  /** The server answers nobody, and later it does again. */
  wentOut(): void
  cameBack(): void
}

/**
 * A server in the memory of this process: what it has of all locks, its clock and its channels. Each
 * client has a connection of its own to it.
 */
export class MemoryServer {
  /** No other server has it. */
  readonly id = `memory:${randomUUID()}`
  readonly #now: () => number
  readonly #records = new Map<string, LockRecord>()
  readonly #connections = new Set<Connected>()
  #sweepAt = FEW
  #lastFloor = 0
  /** Releases, by the raw names of the locks. */
  readonly releases: Channels<string>
  /** The same of read-write locks. */
  readonly readWriteReleases: Channels<string>
  /** What is told to those who await latches, by their raw names. */
  readonly latchMessages: Channels<string>
  /** Its clients by their ids, and what they note of their owners. */
  readonly clients = new Map<string, ClientInfo>()
  readonly notes = new Map<string, string>()
  /** The clients that are next for permits, by the raw names of the semaphores. */
  readonly tickets: Channels<string>
  /** Grants in turn, by the ids of the clients. */
  readonly grants: Channels<FairGrant>
  /** Who begins to lead, by the raw names of the locks of elections. */
  readonly elections: Channels<string>
  /** What clients send each other, by the ids of those that it is for. */
  readonly revocations: Channels<string>

  /** That of its clients. */
  readonly clock: Clock
  /** Why nobody can reach it; undefined while all can. */
  whyOut: CallFailure | undefined

  /**
   * @param now the time in milliseconds since the epoch
   * @param clock that of its clients
   */
  constructor(now = () => Date.now(), clock: Clock = systemClock) {
    this.#now = now
    this.clock = clock
    this.releases = new Channels(clock)
    this.readWriteReleases = new Channels(clock)
    this.latchMessages = new Channels(clock)
    this.tickets = new Channels(clock)
    this.grants = new Channels(clock)
    this.elections = new Channels(clock)
    this.revocations = new Channels(clock)
  }

  /** The time on its clock. */
  get now(): number {
    return this.#now()
  }

  /** What it has of a lock by now. It is not to be kept: the next request may find another. */
  record(rawName: string, now: number): LockRecord {
    let record = this.#records.get(rawName)
    if (record === undefined) {
      record = new LockRecord(rawName)
      this.#records.set(rawName, record)
    } else record.expire(now)
    return record
  }

  /** Issues the next token of a lock: above all before it, also where they are forgotten. */
  mint(
    record: LockRecord,
    now: number,
    { leaseMs, counterMs, reserve = 0, above = 0 }: Minting,
  ): number {
    const least = Math.max(record.lastToken, above) + 1
    const token = Math.max(least, this.tokenFloor(now, reserve)) + reserve
    record.setCounter(token, leaseMs, counterMs, now)
    return token
  }

  /**
   * The time in µs, but never the same again: a clock may have no digits for that.
   *
   * @param reserve so many after it are not to come again either
   */
  tokenFloor(now: number, reserve = 0): number {
    const floor = Math.max(timeUs(now), this.#lastFloor + 1)
    this.#lastFloor = floor + reserve
    return floor
  }

  /** Frees the lock, and tells those who listen. */
  free(record: LockRecord): number {
    record.holder = null
    return this.releases.publish(record.rawName, '0')
  }

  /** What it has of any lock by now. */
  get records(): readonly LockRecord[] {
    this.#sweep()
    return [...this.#records.values()]
  }

  /** Of how many locks it has anything, or had. */
  get size(): number {
    return this.#records.size
  }

  /** Called before each request: what it has of locks that are of no use to anybody goes by and by. */
  tidy(): void {
    if (this.#records.size < this.#sweepAt) return
    this.#sweep()
    this.#sweepAt = Math.max(FEW, 2 * this.#records.size)
  }

  /** Everything that it has is gone; nobody is told. */
  clear(): void {
    this.#records.clear()
  }

  /**
   * As after a reconnect: all clients look again at what they hold and wait for. For whoever sets its
   * clock, or empties it as a restart does.
   */
  lookAgain(): void {
    for (const connection of [...this.#connections]) connection.lookAgain()
    this.releases.callAll()
    this.readWriteReleases.callAll()
    this.latchMessages.callAll()
    this.tickets.callAll()
    this.grants.callAll()
    this.elections.callAll()
    this.revocations.callAll()
  }

  /** From now on it answers nobody, and what it was about to answer is lost. What it has of locks it keeps. */
  beginOutage(): void {
    this.whyOut = OUT
    for (const connection of [...this.#connections]) connection.wentOut()
  }

  /** All clients reach it again. */
  endOutage(): void {
    this.whyOut = undefined
    for (const connection of [...this.#connections]) connection.cameBack()
    this.lookAgain()
  }

  join(connection: Connected): void {
    this.#connections.add(connection)
  }

  leave(connection: Connected): void {
    this.#connections.delete(connection)
    this.releases.leave(connection)
    this.readWriteReleases.leave(connection)
    this.latchMessages.leave(connection)
    this.tickets.leave(connection)
    this.grants.leave(connection)
    this.elections.leave(connection)
    this.revocations.leave(connection)
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#connections.size
  }

  #sweep(): void {
    const { now } = this
    for (const [rawName, record] of this.#records) {
      record.expire(now)
      if (record.isForgotten) this.#records.delete(rawName)
    }
  }
}
