import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'

/** What a call wants, or a hold is of: the word by which kinds are told apart in facts, metrics and spans. */
export type KindName = 'lock' | 'fair' | 'read' | 'write' | 'upgradable' | 'permits' | 'semaphore'

/** What all facts carry. */
export interface ClientFact {
  /** The id of the client. */
  readonly client: string
  /** The `label` of the client: host and pid, unless it was given another. */
  readonly label: string
}

/** The client that facts about locks are told by. */
export interface FactSource extends ClientFact {
  /** What clients of this place tell each other, by owners; undefined where they cannot. */
  readonly notes: Notes | undefined
}

/** What all facts about one lock carry. */
export interface LockFact extends FactSource {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly kind: KindName
}

/** A line of text that a client keeps about what one of its owners has, for other clients to read. No lock depends on it. */
export interface Notes {
  /** Sent soon, together with others, and never waited for; undefined takes it away. */
  set(owner: string, text: string | undefined): void
  /** @returns the line; undefined where there is none, or it is not to be had. Never rejects */
  get(owner: string): Promise<string | undefined>
}

/**
 * How a lock was got: it was `free`; `reentered` by who had it; `local`, passed on or handed over inside the client;
 * `granted` by the release of another client, in turn; `raced` for, after a wait.
 */
export type AcquirePath = 'free' | 'reentered' | 'local' | 'granted' | 'raced'

/** `timeout` is a wait that ended, or a try that found the lock taken; `outage` what Redis could not answer. */
export type AcquireOutcome = 'granted' | 'timeout' | 'aborted' | 'outage' | 'closed' | 'failed'

/** Of `tracing:holdfast:acquire`: one call to acquire, from its begin to its lease, null or error. */
export interface AcquireFact extends LockFact {
  /** In milliseconds; 0 tries once, Infinity waits without an end. */
  readonly waitMs: number
  /** The lease that is asked for, in milliseconds; Infinity for permits without one. */
  readonly leaseMs: number
  // From here on known at `asyncEnd`, `holder` as soon as it is.
  /** Who was last seen to have the lock, as `<clientId>:<owner>`. */
  holder?: string
  outcome?: AcquireOutcome
  /** Of what was granted, as are `owner` and `token`. */
  path?: AcquirePath
  /** From the call to its outcome, in milliseconds. */
  waitedMs?: number
  /** `<clientId>:<owner>`, as it stands in Redis. */
  owner?: string
  token?: number
  error?: unknown
}

/** `forced` is by `forceUnlock()` of this client; of another one it is `gone`. */
export type HoldOutcome = 'released' | 'expired' | 'gone' | 'forced' | 'closed'

/** Of `tracing:holdfast:hold`: from the grant to the last release, or the loss. */
export interface HoldFact extends LockFact {
  /** `<clientId>:<owner>`, as it stands in Redis. */
  readonly owner: string
  readonly token: number
  /** The lease that it was granted for, in milliseconds. */
  readonly leaseMs: number
  /**
   * The hold lasts at most so long, in milliseconds, unless `extend()` lengthens a lease that is not renewed: its lease, or its
   * `maxHoldMs`. Infinity if the lease is renewed until the release.
   */
  readonly limitMs: number
  /** The call that it was acquired by, if that was traced. */
  readonly acquire: AcquireFact | undefined
  // From here on known at `asyncEnd`.
  outcome?: HoldOutcome
  /** From the grant to the last call of `release()`, or to the loss, in milliseconds. */
  heldMs?: number
  /** Of a loss: for how long the event loop stood still before it was found, if that is why; in milliseconds. */
  stalledMs?: number
  error?: unknown
}

/** Of `tracing:holdfast:release`: the end of a hold at the server. */
export interface ReleaseFact extends LockFact {
  readonly owner: string
  readonly token: number
  /** `local`: the next one of this client has it. `unknown`: not confirmed, and tried on in the background. */
  outcome?: 'freed' | 'local' | 'gone' | 'unknown'
  error?: unknown
}

/** Of `tracing:holdfast:renew`: one request of the watchdog, for many holds. */
export interface RenewFact extends ClientFact {
  readonly holds: number
  /** How much later it was sent than was due, in milliseconds. */
  readonly latenessMs: number
  // From here on known at `asyncEnd`.
  /** How many of them are renewed, and how many were not there any more; of others nothing is known. */
  renewed?: number
  gone?: number
  error?: unknown
}

/** Of `tracing:holdfast:outage`: a server that a client cannot reach, from the first failure until it answers again. */
export interface OutageFact extends ClientFact {
  /** The address of the server, without a login. */
  readonly address: string
  // From here on known at `asyncEnd`.
  /** `closed`: the client was closed before the server answered. */
  outcome?: 'recovered' | 'closed'
  /** From the first failure until the server answered, in milliseconds. */
  outageMs?: number
  /** How many attempts have failed. */
  attempts?: number
  /** The last failure. */
  error?: unknown
}

/** Of the channel `holdfast:settled`: what had been unknown is known. */
export interface SettledFact extends ClientFact {
  /** The key of the lock. */
  readonly key: string
  /** For how long it was not known, in milliseconds. */
  readonly unknownMs: number
}

export const acquireTrace = tracingChannel<unknown, AcquireFact>('holdfast:acquire')
export const holdTrace = tracingChannel<unknown, HoldFact>('holdfast:hold')
export const releaseTrace = tracingChannel<unknown, ReleaseFact>('holdfast:release')
export const renewTrace = tracingChannel<unknown, RenewFact>('holdfast:renew')
export const outageTrace = tracingChannel<unknown, OutageFact>('holdfast:outage')
export const settledChannel = channel('holdfast:settled')

/** Whether anybody listens to any of the five. Bun does not tell of all at once, so there to the first or the last. */
export function isTraced<F extends object>(trace: TracingChannel<unknown, F>): boolean {
  return trace.hasSubscribers ?? (trace.start.hasSubscribers || trace.asyncEnd.hasSubscribers)
}

/** What was begun is over, and its fact complete: to be told once. */
export function tellEnd<F extends { error?: unknown }>(
  trace: TracingChannel<unknown, F>,
  fact: F,
): void {
  if (fact.error !== undefined) trace.error.publish(fact)
  trace.asyncStart.publish(fact)
  trace.asyncEnd.publish(fact)
}
