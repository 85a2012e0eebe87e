import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'

/** The kind of a lock, as a name in facts, metrics and spans. */
export type KindName = 'lock' | 'fair' | 'read' | 'write' | 'upgradable' | 'permits' | 'semaphore'

/** The fields of all facts. */
export interface ClientFact {
  /** The id of the client. Every owner id of the client begins with this id. */
  readonly client: string
  /** The `label` of the client; by default the host name and the process id. */
  readonly label: string
}

/** The client that publishes a fact about a lock, and the notes of clients. */
export interface FactSource extends ClientFact {
  /** The notes of all clients of the same Redis; undefined if clients cannot share notes. */
  readonly notes: Notes | undefined
}

/** The fields of all facts about one lock. */
export interface LockFact extends FactSource {
  /** The name that was given to `getLock` or a similar method. */
  readonly name: string
  readonly kind: KindName
}

/** Lines of text that clients store about their owners. All clients can read these lines. No lock depends on them. */
export interface Notes {
  /**
   * Stores the text soon, in one request with other texts. The call does not wait for the request. If the text is
   * undefined, the client later removes the line of the owner. A client with `presence: false` stores no text.
   */
  set(owner: string, text: string | undefined): void
  /**
   * Reads the line of an owner.
   *
   * @returns undefined if the owner has no line, or if the client cannot read the line. The promise never rejects
   */
  get(owner: string): Promise<string | undefined>
}

/**
 * How the call acquired the lock. `free`: the lock was available at once. `reentered`: the owner held the lock before.
 * `local`: another call of the same client passed the lock on. `granted`: the server granted the lock in FIFO order,
 * usually because another client released the lock. `raced`: the call waited, and then acquired the lock in competition
 * with other callers. `kept`: the client had kept the lock after an earlier release, and sent no request.
 */
export type AcquirePath = 'free' | 'reentered' | 'local' | 'granted' | 'raced' | 'kept'

/**
 * How a call ended. `timeout`: `waitMs` passed, or a single try found that the lock is held. `outage`: Redis did not
 * answer.
 */
export type AcquireOutcome = 'granted' | 'timeout' | 'aborted' | 'outage' | 'closed' | 'failed'

/** The fact of `tracing:holdfast:acquire`: one call to acquire, until it returns a lease or null, or fails. */
export interface AcquireFact extends LockFact {
  /** The longest wait, in milliseconds. 0 means a single try; Infinity means no limit. */
  readonly waitMs: number
  /** The requested lease in milliseconds; Infinity for permits without a lease. */
  readonly leaseMs: number
  // The fields below are set at `asyncEnd`. `holder` is set earlier, as soon as the holder is known.
  /** The last known holder, as `<clientId>:<owner>`. Left out if the holder is unknown. */
  holder?: string
  outcome?: AcquireOutcome
  /** How the call acquired the lock. Left out if the lock was not acquired. */
  path?: AcquirePath
  /** The time from the call to its outcome, in milliseconds. */
  waitedMs?: number
  /** The owner as Redis stores it: `<clientId>:<owner>`. Left out if the lock was not acquired. */
  owner?: string
  token?: number
  error?: unknown
}

/**
 * How a hold ended. `forced`: this client ended the hold, for example by `forceUnlock()`. `gone`: the server no longer
 * had the hold, for example because another client called `forceUnlock()`.
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
   * The limit of the hold, in milliseconds. The limit of a fixed lease is `leaseMs`, but `extend()` can exceed this
   * limit. The limit of a renewed lease is `maxHoldMs`, or Infinity without `maxHoldMs`.
   */
  readonly limitMs: number
  /** The fact of the call that acquired the hold; undefined if this call was not traced. */
  readonly acquire: AcquireFact | undefined
  // The fields below are set at `asyncEnd`.
  outcome?: HoldOutcome
  /** The time from the grant to the last call of `release()`, or to the loss, in milliseconds. */
  heldMs?: number
  /** How long the event loop was blocked, in milliseconds. Set only if the blocked event loop caused the loss. */
  stalledMs?: number
  error?: unknown
}

/**
 * The fact of `tracing:holdfast:release`: the last release of a hold, until its outcome is known or the client gives
 * up.
 */
export interface ReleaseFact extends LockFact {
  readonly owner: string
  readonly token: number
  /**
   * How the release ended. `local`: the hold passed to the next caller in this client. `kept`: the client keeps the
   * lock for its next call, and sent no request. `gone`: the server no longer had the hold. `unknown`: the server did
   * not confirm the release, and the client retries in the background.
   */
  outcome?: 'freed' | 'local' | 'kept' | 'gone' | 'unknown'
  error?: unknown
}

/**
 * The fact of `tracing:holdfast:keep`: the time in which the client keeps a plain lock that no owner holds. The time
 * begins with a release and ends with the next acquisition, or when the client no longer has the lock.
 */
export interface KeepFact extends LockFact {
  readonly owner: string
  /** The token of the last hold. The next acquisition gets a greater token. */
  readonly token: number
  // The fields below are set at `asyncEnd`.
  /**
   * How this time ended. `used`: a call acquired the lock. `freed`: the client asked the server to free the lock.
   * `lost`: the lease expired, or the server no longer had the hold.
   */
  outcome?: 'used' | 'freed' | 'lost'
  /** For how long the client kept the lock, in milliseconds. */
  keptMs?: number
  error?: unknown
}

/** The fact of `tracing:holdfast:renew`: one request of the watchdog, which renews the leases of one or more holds. */
export interface RenewFact extends ClientFact {
  readonly holds: number
  /** How much later than planned the client sent the request, in milliseconds. */
  readonly latenessMs: number
  // The fields below are set at `asyncEnd`.
  /**
   * The number of renewed holds. If the server did not answer for a hold, `renewed` and `gone` do not count this hold.
   */
  renewed?: number
  gone?: number
  error?: unknown
}

/**
 * The fact of `tracing:holdfast:outage`: one outage of a server, from the first failure until the server answers or the
 * client is closed.
 */
export interface OutageFact extends ClientFact {
  /** The address of the server, without its login. */
  readonly address: string
  // The fields below are set at `asyncEnd`.
  /** How the outage ended. `closed`: the client was closed before the server answered. */
  outcome?: 'recovered' | 'closed'
  /**
   * The time from the first failure until the server answered or the client was closed, in
   * milliseconds.
   */
  outageMs?: number
  /** The number of failed attempts during the outage. */
  attempts?: number
  /** The failure of the last attempt. */
  error?: unknown
}

/** The fact of the channel `holdfast:settled`: the outcome of a request was unknown, and is now known. */
export interface SettledFact extends ClientFact {
  /** The key of the lock in Redis. */
  readonly key: string
  /** How long the outcome was unknown, in milliseconds. */
  readonly unknownMs: number
}

export const acquireTrace = tracingChannel<unknown, AcquireFact>('holdfast:acquire')
export const holdTrace = tracingChannel<unknown, HoldFact>('holdfast:hold')
export const releaseTrace = tracingChannel<unknown, ReleaseFact>('holdfast:release')
export const keepTrace = tracingChannel<unknown, KeepFact>('holdfast:keep')
export const renewTrace = tracingChannel<unknown, RenewFact>('holdfast:renew')
export const outageTrace = tracingChannel<unknown, OutageFact>('holdfast:outage')
export const settledChannel = channel('holdfast:settled')

/**
 * True if any of the five channels of the trace has a subscriber. In Bun, a trace has no property `hasSubscribers`.
 * There, the function checks only the channels `start` and `asyncEnd`.
 */
export function isTraced<F extends object>(trace: TracingChannel<unknown, F>): boolean {
  return trace.hasSubscribers ?? (trace.start.hasSubscribers || trace.asyncEnd.hasSubscribers)
}

/** Publishes the end of an operation, with its complete fact. Call this function once for each operation. */
export function publishEnd<F extends { error?: unknown }>(
  trace: TracingChannel<unknown, F>,
  fact: F,
): void {
  if (fact.error !== undefined) trace.error.publish(fact)
  trace.asyncStart.publish(fact)
  trace.asyncEnd.publish(fact)
}
