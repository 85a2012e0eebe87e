import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { CallFailure } from '../call-failure.ts'
import type { Changed, NameRecord, ServerMoment } from '../record-store.ts'
import { isEmpty } from '../records/plain-data.ts'
import { Channels } from './channels.ts'

/**
 * Before a request, the server deletes expired records only if it has at least this many records.
 */
const FEW = 1_024

/** The failure of a request that a client sends during an outage. */
export const OUT = new CallFailure('unsent', 'the server in memory is down')

interface Connected {
  /**
   * Called when the state of all locks may have changed. The client then checks its holds and its
   * waits.
   */
  checkAgain(): void
  wentOut(): void
  cameBack(): void
}

/** The time of a server in memory during one change. */
class MemoryMoment implements ServerMoment {
  readonly nowMs: number
  /** The clients are in the same process, so they use the same clock. */
  readonly aheadMs = 0
  readonly #server: MemoryLockServer

  constructor(server: MemoryLockServer) {
    this.#server = server
    this.nowMs = server.now
  }

  get steadyMs(): number {
    return this.#server.clock.monotonic()
  }

  listeners(channel: string): number {
    return this.#server.messages.count(channel)
  }
}

/**
 * A server in the memory of this process, with its records and channels. Each client has its own
 * connection to the server.
 */
export class MemoryLockServer {
  readonly id = `memory:${randomUUID()}`
  readonly #now: () => number
  readonly #records = new Map<string, NameRecord>()
  readonly #connections = new Set<Connected>()
  #sweepAt = FEW
  /** The largest `lastUs` of all records so far. A new record uses only larger times. */
  #lastUs = 0
  readonly messages: Channels<string>
  /** The reports of the clients, by client id. Each report has texts, by field. */
  readonly reports = new Map<string, Map<string, string>>()
  /** The clock of the clients of this server. */
  readonly clock: Clock
  /** The failure of new requests during an outage; undefined without an outage. */
  whyOut: CallFailure | undefined

  /**
   * @param now returns the server's time, in milliseconds since 1970
   * @param clock the clock of the clients
   */
  constructor(now = () => Date.now(), clock: Clock = systemClock) {
    this.#now = now
    this.clock = clock
    this.messages = new Channels(clock)
  }

  get now(): number {
    return this.#now()
  }

  /** Changes records, as `RecordStore.transact` does. Publishes the messages. */
  transact<T>(
    names: readonly string[],
    change: (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>,
  ): T {
    const records = names.map((name) => this.#records.get(name) ?? this.#newRecord())
    const { answer, messages } = change(records, new MemoryMoment(this))
    for (const [n, name] of names.entries()) this.write(name, records[n] as NameRecord)
    for (const { channel, message } of messages) this.messages.publish(channel, message)
    return answer
  }

  #newRecord(): NameRecord {
    return { use: undefined, lastUs: this.#lastUs, parts: {} }
  }

  /** Stores a record. A record without parts is deleted. */
  protected write(name: string, record: NameRecord): void {
    this.#lastUs = Math.max(this.#lastUs, record.lastUs ?? 0)
    if (isEmpty(record.parts)) this.#records.delete(name)
    else this.#records.set(name, record)
  }

  /** Deletes the expired parts of all records. Returns the records by name. */
  get records(): ReadonlyMap<string, NameRecord> {
    const { now } = this
    for (const [name, record] of this.#records) {
      for (const [part, { untilMs }] of Object.entries(record.parts)) {
        if (untilMs < now) delete record.parts[part]
      }
      this.write(name, record)
    }
    return this.#records
  }

  /** The number of records, including expired records. */
  get size(): number {
    return this.#records.size
  }

  /** Called before each request. Deletes expired records if there are many records. */
  tidy(): void {
    if (this.#records.size < this.#sweepAt) return
    this.#sweepAt = Math.max(FEW, 2 * this.records.size)
  }

  /** Deletes all records, without a message to clients. */
  clear(): void {
    this.#records.clear()
  }

  /**
   * Makes all clients check their holds and waits, as after a new connection. Tests call it after
   * they have set the clock or emptied the server.
   */
  checkAgain(): void {
    for (const connection of [...this.#connections]) connection.checkAgain()
    this.messages.callAll()
  }

  /**
   * Makes the server unreachable for all clients. Requests that have already run get no answer
   * either. The server keeps the state of the locks.
   */
  beginOutage(): void {
    this.whyOut = OUT
    for (const connection of [...this.#connections]) connection.wentOut()
  }

  endOutage(): void {
    this.whyOut = undefined
    for (const connection of [...this.#connections]) connection.cameBack()
    this.checkAgain()
  }

  join(connection: Connected): void {
    this.#connections.add(connection)
  }

  removeConnection(connection: Connected): void {
    this.#connections.delete(connection)
    this.messages.removeAll(connection)
  }

  get connections(): number {
    return this.#connections.size
  }
}
