import type { Subscription } from './subscription.ts'

/**
 * A kind whose requests are no members of `LockServer`. `R` is the interface of its requests for
 * one name.
 */
export interface ServerKind<R extends object> {
  /** The folder of its scripts. */
  readonly name: string
  /** The words in errors for a name that the kind uses. */
  readonly what: string
  /** Makes the requests on a server without scripts, which stores records. */
  onRecords(store: RecordStore, rawName: string): R
}

/** The state of one name on a server without scripts. */
export interface KindRecord {
  /** Forgets all that has expired. */
  expire(nowMs: number): void
  /** True if no other kind may use the name now. */
  readonly usesName: boolean
  readonly isForgotten: boolean
}

/** The time of the server during one change. */
export interface ServerMoment {
  readonly nowMs: number
  /** Returns the server time in µs, raised if necessary, so that each call returns a new value. */
  uniqueUs(): number
}

/** A server that stores records and changes each record all or nothing. */
export interface RecordStore {
  /**
   * Changes the record of a name. Refuses the request if another kind uses the name.
   *
   * @param newRecord makes the record if there is none
   */
  transact<S extends KindRecord, T>(
    kind: ServerKind<object>,
    rawName: string,
    newRecord: () => S,
    change: (record: S, moment: ServerMoment) => T,
  ): Promise<T>
  publish(kind: ServerKind<object>, rawName: string, message: string): void
  /** Calls `onWake` with each message, and once at first without a message. */
  listen(
    kind: ServerKind<object>,
    rawName: string,
    onWake: (message?: string) => void,
  ): Subscription
}
