import type { LeaseLostError, RedisUnavailableError } from './errors.ts'

/** What all events about one hold of a lock carry. */
export interface HoldEvent {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The fencing token of the hold. */
  readonly token: number
}

/** A server has recovered from an outage. */
export interface RecoveredEvent {
  /** The address of the server, without a login. One of the `masters` and a node of a cluster have their own. */
  readonly address: string
  /** How long the outage has lasted, in milliseconds. */
  readonly durationMs: number
  /** How many attempts have failed. */
  readonly attempts: number
}

/** An outage of a server begins, or goes on. */
export interface OutageEvent {
  /** As with {@link RecoveredEvent}. */
  readonly address: string
  /** How long the outage has lasted until now, in milliseconds; 0 when it begins. */
  readonly durationMs: number
  /** How many attempts have failed. */
  readonly attempts: number
  /** The last failure, in words for people. Its `cause` is what the network or the server said. */
  readonly error: RedisUnavailableError
}

/** The client that asks for a release. */
export interface Requester {
  /** The id of the client. */
  readonly client: string
  /** Its `label`; control characters are escaped, and it is cut to 200 characters. */
  readonly label: string
}

/** A request of another client, or of an operator, to release a hold soon. */
export interface ReleaseRequestedEvent extends HoldEvent {
  /** Why, in the words of the requester, escaped and cut as its label; null if it gave none. */
  readonly reason: string | null
  readonly by: Requester
}

/** The events of a client and what each listener gets. */
export interface HoldfastEvents {
  /** A lock was acquired; re-entries are not told. `waitedMs` counts from the call. */
  acquired: (event: HoldEvent & { readonly waitedMs: number }) => void
  /** The last acquisition of a hold was released. */
  released: (event: HoldEvent) => void
  /** An acquisition found the lock taken and waits. */
  wait: (event: { readonly name: string }) => void
  /** A renewal was confirmed for this many holds in one request. */
  renewed: (event: { readonly holds: number }) => void
  /**
   * A renewal, or a look at a fixed lease, was not confirmed: the lease goes on for `remainingMs` and
   * is asked for again. It is a warning; the loss would be told by `lost` and by the signal of the lease.
   */
  late: (event: HoldEvent & { readonly remainingMs: number; readonly cause: Error }) => void
  /** A hold was lost before it was released. The signal of its leases aborts at the same moment. */
  lost: (event: HoldEvent & { readonly error: LeaseLostError }) => void
  /**
   * A server cannot be reached, gives no answer, or refuses the connection. Told when that begins, after 5 s, and
   * then after twice as long each time, but every five minutes at least. It is told by `error` as well.
   */
  outage: (event: OutageEvent) => void
  /** A server answers again after an outage, and has done so for a second; or it is no part of its cluster any more. */
  recovered: (event: RecoveredEvent) => void
  /**
   * `requestRelease()` of another client, or `npx holdfast release --ask`, asks for the release of a hold. Nothing is
   * taken: the holder decides. The signal `releaseRequested` of its leases aborts at the same moment.
   */
  releaseRequested: (event: ReleaseRequestedEvent) => void
  /**
   * Something failed that no call can reject with: an outage, or a release in the background.
   * Without a listener it is silent; it never crashes the process.
   */
  error: (error: Error) => void
}

/** Tells listeners of an event. What one of them throws is not the business of who tells. */
export type Emit = <E extends keyof HoldfastEvents>(
  event: E,
  ...args: Parameters<HoldfastEvents[E]>
) => void
