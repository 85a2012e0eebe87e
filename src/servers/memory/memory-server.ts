import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { CallFailure } from '../call-failure.ts'
import type { FairGrant } from '../fair-server.ts'
import type { ClientInfo } from '../presence.ts'
import { timeUs } from '../records/moments.ts'
import { Channels } from './channels.ts'
import { LockRecord } from './records/lock-record.ts'

/** The least number of records at which the server removes unused records. */
const FEW = 1_024

/** The failure of each request that a client sends during an outage. */
export const OUT = new CallFailure('unsent', 'the server in memory is down')

interface Minting {
  readonly leaseMs: number
  /** How long the server remembers the last token, in milliseconds; 0 means forever. */
  readonly counterMs: number
  /** The number of tokens to reserve below the new token. */
  readonly reserve?: number
  /**
   * A token that the caller knows. The new token is higher, even if the server has forgotten the
   * known token.
   */
  readonly above?: number
}

interface Connected {
  /**
   * Called when the state of all locks may have changed. The client then checks its holds and its
   * waits.
   */
  lookAgain(): void
  /** Called when an outage begins. */
  wentOut(): void
  cameBack(): void
}

/**
 * A server in the memory of this process, with its locks and channels. Each client has its own
 * connection to the server.
 */
export class MemoryLockServer {
  readonly id = `memory:${randomUUID()}`
  readonly #now: () => number
  readonly #records = new Map<string, LockRecord>()
  readonly #connections = new Set<Connected>()
  #sweepAt = FEW
  #lastFloor = 0
  /** Messages about released locks. The name of a channel is the raw name of the lock. */
  readonly releases: Channels<string>
  /**
   * Messages about released read-write locks. The name of a channel is the raw name of the lock.
   */
  readonly readWriteReleases: Channels<string>
  /** Messages of other kinds. The name of a channel begins with the name of the kind. */
  readonly messages: Channels<string>
  /** The identities of the clients, by client id. */
  readonly clients = new Map<string, ClientInfo>()
  readonly notes = new Map<string, string>()
  /**
   * Messages about grants of fair locks. The name of a channel is the id of the client that
   * receives the grant.
   */
  readonly grants: Channels<FairGrant>
  /** Messages about new leaders. The name of a channel is the raw name of the election's lock. */
  readonly elections: Channels<string>
  /**
   * Messages from client to client. The name of a channel is the id of the client that receives the
   * message.
   */
  readonly revocations: Channels<string>

  /** The clock of the clients of this server. */
  readonly clock: Clock
  /** The failure of all requests during an outage; undefined without an outage. */
  whyOut: CallFailure | undefined

  /**
   * @param now returns the server's time, in milliseconds since 1970
   * @param clock the clock of the clients
   */
  constructor(now = () => Date.now(), clock: Clock = systemClock) {
    this.#now = now
    this.clock = clock
    this.releases = new Channels(clock)
    this.readWriteReleases = new Channels(clock)
    this.messages = new Channels(clock)
    this.grants = new Channels(clock)
    this.elections = new Channels(clock)
    this.revocations = new Channels(clock)
  }

  get now(): number {
    return this.#now()
  }

  /**
   * Returns the current state of one lock. The caller must not keep the record after its request,
   * because the server may replace the record.
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
   * when the server has forgotten them.
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
   * Returns the time in µs, or a higher value if earlier calls returned this time. So no two calls
   * return the same value.
   *
   * @param reserve how many values above the result also belong to this call
   */
  tokenFloor(now: number, reserve = 0): number {
    const floor = Math.max(timeUs(now), this.#lastFloor + 1)
    this.#lastFloor = floor + reserve
    return floor
  }

  /**
   * Frees the lock, and tells the listeners.
   *
   * @returns the number of connections that receive the message
   */
  free(record: LockRecord): number {
    record.holder = null
    return this.releases.publish(record.rawName, '0')
  }

  get records(): readonly LockRecord[] {
    this.#sweep()
    return [...this.#records.values()]
  }

  /** The number of records. Unused records count too. */
  get size(): number {
    return this.#records.size
  }

  /** Called before each request. Removes unused records if there are many records. */
  tidy(): void {
    if (this.#records.size < this.#sweepAt) return
    this.#sweep()
    this.#sweepAt = Math.max(FEW, 2 * this.#records.size)
  }

  /** Deletes the state of all locks, without a message to clients. */
  clear(): void {
    this.#records.clear()
  }

  /**
   * Makes all clients check their holds and waits, as after a new connection. Tests call it after
   * they have set the clock or emptied the server.
   */
  lookAgain(): void {
    for (const connection of [...this.#connections]) connection.lookAgain()
    this.releases.callAll()
    this.readWriteReleases.callAll()
    this.messages.callAll()
    this.grants.callAll()
    this.elections.callAll()
    this.revocations.callAll()
  }

  /**
   * Makes the server unreachable for all clients. Requests that have run are not answered either.
   * The server keeps the state of the locks.
   */
  beginOutage(): void {
    this.whyOut = OUT
    for (const connection of [...this.#connections]) connection.wentOut()
  }

  endOutage(): void {
    this.whyOut = undefined
    for (const connection of [...this.#connections]) connection.cameBack()
    this.lookAgain()
  }

  join(connection: Connected): void {
    this.#connections.add(connection)
  }

  removeConnection(connection: Connected): void {
    this.#connections.delete(connection)
    this.releases.removeAll(connection)
    this.readWriteReleases.removeAll(connection)
    this.messages.removeAll(connection)
    this.grants.removeAll(connection)
    this.elections.removeAll(connection)
    this.revocations.removeAll(connection)
  }

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
