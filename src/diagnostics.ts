import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'

/** The kind of lock that a call acquires or a hold has. Facts, metrics and spans carry this word. */
export type KindName = 'lock' | 'fair' | 'read' | 'write' | 'upgradable' | 'permits' | 'semaphore'

/** The fields of all facts. */
export interface ClientFact {
  /** The id of the client. */
  readonly client: string
  /** The `label` of the client. Its default is host and pid. */
  readonly label: string
}

/** The client that reports facts about locks. */
export interface FactSource extends ClientFact {
  /** The notes that clients of the same Redis share, by owner; undefined if clients cannot share notes. */
  readonly notes: Notes | undefined
}

/** The fields of all facts about one lock. */
export interface LockFact extends FactSource {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly kind: KindName
}

/**
 * Lines of text that a client stores about the holds of its owners. Other clients can read them, and no lock depends on
 * them.
 */
export interface Notes {
  /**
   * Stores the line soon, in one request with others. No call waits for that request. With undefined, it removes the
   * line.
   */
  set(owner: string, text: string | undefined): void
  /** @returns the line; undefined if there is none or it cannot be read. It never rejects */
  get(owner: string): Promise<string | undefined>
}

/**
 * How the call acquired the lock. `free`: the lock was free. `reentered`: its holder acquired it again. `local`: the
 * client passed it on to the next call in the same client. `granted`: the release of another client granted it, in
 * FIFO order. `raced`: the call waited, then took the lock in competition with others.
 */
export type AcquirePath = 'free' | 'reentered' | 'local' | 'granted' | 'raced'

/** `timeout`: a wait ended, or a single try found the lock held. `outage`: Redis did not answer. */
export type AcquireOutcome = 'granted' | 'timeout' | 'aborted' | 'outage' | 'closed' | 'failed'

/** The fact of `tracing:holdfast:acquire`: one call to acquire, from its start to its lease, null or error. */
export interface AcquireFact extends LockFact {
  /** In milliseconds. 0 tries once; Infinity waits forever. */
  readonly waitMs: number
  /** The requested lease in milliseconds; Infinity for permits without a lease. */
  readonly leaseMs: number
  // The fields below are set at `asyncEnd`, and `holder` as soon as it is known.
  /** The last known holder, as `<clientId>:<owner>`. */
  holder?: string
  outcome?: AcquireOutcome
  /** Set if the lock was granted, as are `owner` and `token`. */
  path?: AcquirePath
  /** The time from the call to its outcome, in milliseconds. */
  waitedMs?: number
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  owner?: string
  token?: number
  error?: unknown
}

/**
 * `forced`: `forceUnlock()` of this client ended the hold. If another client's `forceUnlock()` ended it, the outcome is
 * `gone`.
 */
export type HoldOutcome = 'released' | 'expired' | 'gone' | 'forced' | 'closed'

/** The fact of `tracing:holdfast:hold`: one hold, from the grant to the last release or the loss. */
export interface HoldFact extends LockFact {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  readonly token: number
  /** The lease that was granted, in milliseconds. */
  readonly leaseMs: number
  /**
   * The longest time that the hold can last, in milliseconds: its lease, or its `maxHoldMs`. Infinity if the lease is
   * renewed until the release. Only `extend()` of a lease that is not renewed can lengthen it.
   */
  readonly limitMs: number
  /** The call that acquired the hold, if that call was traced. */
  readonly acquire: AcquireFact | undefined
  // The fields below are set at `asyncEnd`.
  outcome?: HoldOutcome
  /** The time from the grant to the last call of `release()`, or to the loss, in milliseconds. */
  heldMs?: number
  /** Set if a blocked event loop caused the loss: how long the event loop was blocked, in milliseconds. */
  stalledMs?: number
  error?: unknown
}

/** The fact of `tracing:holdfast:release`: the end of a hold on the server. */
export interface ReleaseFact extends LockFact {
  readonly owner: string
  readonly token: number
  /**
   * `local`: the next caller in this client holds the lock. `unknown`: the server did not confirm the release, and the
   * client retries in the background.
   */
  outcome?: 'freed' | 'local' | 'gone' | 'unknown'
  error?: unknown
}

/** The fact of `tracing:holdfast:renew`: one request of the watchdog, for many holds. */
export interface RenewFact extends ClientFact {
  readonly holds: number
  /** How late the request was sent, in milliseconds. */
  readonly latenessMs: number
  // The fields below are set at `asyncEnd`.
  /**
   * The number of holds that were renewed. `gone` is the number of holds that no longer existed. The state of the other
   * holds is unknown.
   */
  renewed?: number
  gone?: number
  error?: unknown
}

/**
 * The fact of `tracing:holdfast:outage`: a server that a client cannot reach, from the first failure until it answers.
 */
export interface OutageFact extends ClientFact {
  /** The address of the server, without a login. */
  readonly address: string
  // The fields below are set at `asyncEnd`.
  /** `closed`: the client was closed before the server answered. */
  outcome?: 'recovered' | 'closed'
  /** The time from the first failure until the server answered, in milliseconds. */
  outageMs?: number
  /** How many attempts have failed. */
  attempts?: number
  /** The last failure. */
  error?: unknown
}

/** The fact of the channel `holdfast:settled`: the outcome of a request was unknown and is now known. */
export interface SettledFact extends ClientFact {
  /** The key of the lock. */
  readonly key: string
  /** How long the outcome was unknown, in milliseconds. */
  readonly unknownMs: number
}

export const acquireTrace = tracingChannel<unknown, AcquireFact>('holdfast:acquire')
export const holdTrace = tracingChannel<unknown, HoldFact>('holdfast:hold')
export const releaseTrace = tracingChannel<unknown, ReleaseFact>('holdfast:release')
export const renewTrace = tracingChannel<unknown, RenewFact>('holdfast:renew')
export const outageTrace = tracingChannel<unknown, OutageFact>('holdfast:outage')
export const settledChannel = channel('holdfast:settled')

/**
 * True if any of the five channels of the trace has a subscriber. Bun has no property for that, so
 * the first and the last channel are checked there.
 */
export function isTraced<F extends object>(trace: TracingChannel<unknown, F>): boolean {
  return trace.hasSubscribers ?? (trace.start.hasSubscribers || trace.asyncEnd.hasSubscribers)
}

/**
 * Publishes the end of an operation, with its complete fact. It must be called once for each
 * operation.
 */
export function tellEnd<F extends { error?: unknown }>(
  trace: TracingChannel<unknown, F>,
  fact: F,
): void {
  if (fact.error !== undefined) trace.error.publish(fact)
  trace.asyncStart.publish(fact)
  trace.asyncEnd.publish(fact)
}
