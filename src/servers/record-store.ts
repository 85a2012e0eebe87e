import type { Clock } from '../kit/clock.ts'
import type { ClientReports } from './client-reports.ts'
import type { ConnectedServer } from './connected-server.ts'
import type { Subscription } from './subscription.ts'

/** The end time of data that never expires. Unlike Infinity, JSON can represent this number. */
export const FOREVER = Number.MAX_SAFE_INTEGER

/**
 * A server without scripts, as one client uses it. It stores one record for each name. The folder
 * `records/` contains the protocols, which are the same for each store. A failed call rejects with a
 * `CallFailure`.
 */
export interface RecordStore extends ConnectedServer {
  /** The clock of the client. */
  readonly clock: Clock
  readonly reports: ClientReports
  /** True if the store can count the clients that listen to a channel. */
  readonly countsListeners: boolean
  /**
   * Changes the records of several names, all or nothing. `change` changes the records in place. If
   * `change` throws, the store stores nothing. If another client changes a record at the same time,
   * the store calls `change` again with new records. The changes of one client to one record run in
   * the order of the calls.
   *
   * @param names names without duplicates
   * @param callMs how long the call may take, in milliseconds. After this time the call fails, and
   * the store sends no change for this call. The `CallFailure` is `unknown` if the server may have
   * stored the change; otherwise `unsent`. A store in memory ignores this limit
   * @param change receives one record for each name. A new record has no parts. Returns the answer,
   * and the messages that the store publishes after the change
   */
  transact<T>(
    names: readonly string[],
    callMs: number,
    change: (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>,
  ): Promise<T>
  /**
   * @param callMs as in `transact`
   * @returns how many clients receive the message; null if the store cannot count them
   */
  publish(channel: string, message: string, callMs: number): Promise<number | null>
  /**
   * Reads the names of all records in pages, each name once. A record that begins or ends meanwhile
   * may be missing.
   *
   * @param prefix reads only names that begin with this text
   * @param callMs how long the request for one page may take, as in `transact`
   */
  list(prefix: string, callMs: number): AsyncIterable<readonly string[]>
  /**
   * Calls `onMessage` with each message. Calls `onMessage` without a message once after the
   * subscription begins, and when this client may have missed messages.
   */
  listen(channel: string, onMessage: (message?: string) => void): Subscription
}

/** The state of one name. It is plain data, so a store can write it as JSON. */
export interface NameRecord {
  /** The kind that uses the name. No other kind may use the name meanwhile. */
  use?: NameUse | undefined
  /**
   * The latest time in µs that became a token or an id. It can be ahead of the server's time. After
   * this time, the store may delete a record without parts.
   */
  lastUs?: number
  /** The stored state, by the name of the part. Some kinds share a part. */
  readonly parts: { [name: string]: StoredPart }
}

interface NameUse {
  /** The part of the kind that uses the name. */
  readonly part: string
  /** The words for the kind in errors, such as `a latch`. */
  readonly what: string
  /** When the use of the name ends, in ms of the server's time. */
  readonly untilMs: number
}

interface StoredPart {
  /** The store may delete the part after this moment, in ms of the server's time. */
  readonly untilMs: number
  readonly state: object
}

/** The time of the server during one change. */
export interface ServerMoment {
  /** The server's time, in ms since 1970. */
  readonly nowMs: number
  /** The time on a steady clock of the server, which only runs forward, in milliseconds. */
  readonly steadyMs: number
  /** The steady clock is ahead of the client's monotonic clock by at most this, in milliseconds. */
  readonly aheadMs: number
  /** Returns how many clients listen to a channel; null if the server cannot count them. */
  listeners(channel: string): number | null
}

export interface Changed<T> {
  readonly answer: T
  readonly messages: readonly StoreMessage[]
}

export interface StoreMessage {
  readonly channel: string
  readonly message: string
}
