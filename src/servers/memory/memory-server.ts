import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { CallFailure } from '../call-failure.ts'
import type { FairGrant } from '../fair-server.ts'
import type { ClientInfo } from '../presence.ts'
import { Channels } from './channels.ts'
import { LockRecord } from './records/lock-record.ts'
import { timeUs } from './records/moments.ts'

/** The server looks for unused records only if it has at least this many records. */
const FEW = 1_024

/** The failure of every request during an outage. */
export const OUT = new CallFailure('unsent', 'the server in memory is down')

interface Minting {
  readonly leaseMs: number
  /** How long the last token is remembered, in milliseconds; 0 is forever. */
  readonly counterMs: number
  /** How many tokens are wanted in addition to the first. */
  readonly reserve?: number
  /**
   * A token that the caller knows. The new token is above it, even if the record has forgotten it.
   */
  readonly above?: number
}

interface Connected {
  /** Checks all holds and waits again, because the whole state of the server may have changed. */
  lookAgain(): void
  /** Called when the server stops answering. It answers again after `cameBack`. */
  wentOut(): void
  cameBack(): void
}

/**
 * A server in the memory of this process, with locks, a clock and channels. Each client has its own
 * connection to the server.
 */
export class MemoryServer {
  /** Unique among all servers. */
  readonly id = `memory:${randomUUID()}`
  readonly #now: () => number
  readonly #records = new Map<string, LockRecord>()
  readonly #connections = new Set<Connected>()
  #sweepAt = FEW
  #lastFloor = 0
  /** Messages about releases. Each channel has the raw name of its lock. */
  readonly releases: Channels<string>
  /** As `releases`, for read-write locks. */
  readonly readWriteReleases: Channels<string>
  /** Messages to the awaiters of latches, by the raw names of the latches. */
  readonly latchMessages: Channels<string>
  /** Messages of other kinds. A channel has the name of the kind and the raw name. */
  readonly kindMessages: Channels<string>
  /** The clients by their ids, and the notes of clients by owner. */
  readonly clients = new Map<string, ClientInfo>()
  readonly notes = new Map<string, string>()
  /**
   * Messages for the client that is next for permits. Each channel has the raw name of its
   * semaphore.
   */
  readonly tickets: Channels<string>
  /** Messages about grants of fair locks. Each channel has the id of its client. */
  readonly grants: Channels<FairGrant>
  /** Messages about new leaders. Each channel has the raw name of the lock of its election. */
  readonly elections: Channels<string>
  /** Messages between clients, by the id of the receiver. */
  readonly revocations: Channels<string>

  /** The clock of its clients. */
  readonly clock: Clock
  /** Why no client can reach the server; undefined while there is no outage. */
  whyOut: CallFailure | undefined

  /**
   * @param now returns the server's time in milliseconds since the epoch
   * @param clock the clock of its clients
   */
  constructor(now = () => Date.now(), clock: Clock = systemClock) {
    this.#now = now
    this.clock = clock
    this.releases = new Channels(clock)
    this.readWriteReleases = new Channels(clock)
    this.latchMessages = new Channels(clock)
    this.kindMessages = new Channels(clock)
    this.tickets = new Channels(clock)
    this.grants = new Channels(clock)
    this.elections = new Channels(clock)
    this.revocations = new Channels(clock)
  }

  get now(): number {
    return this.#now()
  }

  /**
   * The present state of a lock. Do not keep the record: the next request may find another record.
   */
  record(rawName: string, now: number): LockRecord {
    let record = this.#records.get(rawName)
    if (record === undefined) {
      record = new LockRecord(rawName)
      this.#records.set(rawName, record)
    } else record.expire(now)
    return record
  }

  /**
   * Issues the next token of a lock. The token is higher than all earlier tokens of the lock, even
   * those that the server has forgotten.
   */
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
   * Returns the time in µs, raised if necessary, because the clock may be too coarse to give a new
   * value at each call.
   *
   * @param reserve how many values after the result later calls must not return either
   */
  tokenFloor(now: number, reserve = 0): number {
    const floor = Math.max(timeUs(now), this.#lastFloor + 1)
    this.#lastFloor = floor + reserve
    return floor
  }

  /** Frees the lock and sends a message about that. Returns how many connections receive it. */
  free(record: LockRecord): number {
    record.holder = null
    return this.releases.publish(record.rawName, '0')
  }

  /** The present state of all locks. */
  get records(): readonly LockRecord[] {
    this.#sweep()
    return [...this.#records.values()]
  }

  /** The number of records, including unused records. */
  get size(): number {
    return this.#records.size
  }

  /** Called before each request. If there are many records, removes the unused ones. */
  tidy(): void {
    if (this.#records.size < this.#sweepAt) return
    this.#sweep()
    this.#sweepAt = Math.max(FEW, 2 * this.#records.size)
  }

  /** Deletes the state of all locks, without messages. */
  clear(): void {
    this.#records.clear()
  }

  /**
   * Makes all clients check their holds and waits again, as after a reconnect. For tests that set
   * the clock, or that empty the server as a restart does.
   */
  lookAgain(): void {
    for (const connection of [...this.#connections]) connection.lookAgain()
    this.releases.callAll()
    this.readWriteReleases.callAll()
    this.latchMessages.callAll()
    this.kindMessages.callAll()
    this.tickets.callAll()
    this.grants.callAll()
    this.elections.callAll()
    this.revocations.callAll()
  }

  /** Stops all answers, even for requests that have run. The state of the locks is kept. */
  beginOutage(): void {
    this.whyOut = OUT
    for (const connection of [...this.#connections]) connection.wentOut()
  }

  /** Lets all clients reach the server again. */
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
    this.kindMessages.leave(connection)
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
