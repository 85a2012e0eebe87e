import type { LeaseLostError, RedisUnavailableError } from './errors.ts'

/** The fields of each event about one hold of a lock. */
export interface HoldEvent {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The fencing token of the hold. */
  readonly token: number
}

/** A server has recovered from an outage. */
export interface RecoveredEvent {
  /** The address of the server, without a login. Each of the `masters` and each node of a cluster has its own. */
  readonly address: string
  /** How long the outage lasted, in milliseconds. */
  readonly durationMs: number
  /** How many attempts have failed. */
  readonly attempts: number
}

/** An outage of a server begins or continues. */
export interface OutageEvent {
  /** The address of the server, without a login. Each of the `masters` and each node of a cluster has its own. */
  readonly address: string
  /** How long the outage has lasted so far, in milliseconds; 0 when it begins. */
  readonly durationMs: number
  /** How many attempts have failed. */
  readonly attempts: number
  /** The last failure, as a readable message. Its `cause` is the error of the network or the server. */
  readonly error: RedisUnavailableError
}

/** The client that asks for a release. */
export interface Requester {
  /** The id of the client. */
  readonly client: string
  /**
   * The `label` of the client. Control characters are escaped, and the text is cut to 200
   * characters.
   */
  readonly label: string
}

/** Another client or an operator asks the holder to release soon. */
export interface ReleaseRequestedEvent extends HoldEvent {
  /** The reason in the words of the requester; null if there is none. It is escaped and cut like the label. */
  readonly reason: string | null
  readonly by: Requester
}

/** The events of a client, with the arguments of their listeners. */
export interface HoldfastEvents {
  /** A lock was acquired. A re-entry emits no event. `waitedMs` is the time since the call. */
  acquired: (event: HoldEvent & { readonly waitedMs: number }) => void
  /** The last acquisition of a hold was released. */
  released: (event: HoldEvent) => void
  /** An acquisition found that another owner holds the lock, and waits. */
  wait: (event: { readonly name: string }) => void
  /** One request has renewed the leases of this many holds. */
  renewed: (event: { readonly holds: number }) => void
  /**
   * A renewal, or a check of a fixed lease, was not confirmed. The lease continues for `remainingMs`, and the client
   * retries. This event is a warning; a loss emits `lost` and aborts the signal of the lease.
   */
  late: (event: HoldEvent & { readonly remainingMs: number; readonly cause: Error }) => void
  /** A hold was lost before it was released. The signals of its leases abort at the same moment. */
  lost: (event: HoldEvent & { readonly error: LeaseLostError }) => void
  /**
   * A server cannot be reached, does not answer, or refuses the connection. Emitted when the outage begins, after 5 s,
   * and then after twice as long each time, but at least every five minutes. The event `error` reports it too.
   */
  outage: (event: OutageEvent) => void
  /** A server has answered for one second after an outage, or is no longer part of its cluster. */
  recovered: (event: RecoveredEvent) => void
  /**
   * `requestRelease()` of another client, or `npx holdfast release --ask`, asks for the release of a hold. The holder
   * keeps the lock and decides. The signal `releaseRequested` of its leases aborts at the same moment.
   */
  releaseRequested: (event: ReleaseRequestedEvent) => void
  /**
   * A failure that no call reports: an outage, or a release in the background. Without a listener, the event has no
   * effect; it never crashes the process.
   */
  error: (error: Error) => void
}

/** Emits an event. An error of a listener is not thrown to the caller. */
export type Emit = <E extends keyof HoldfastEvents>(
  event: E,
  ...args: Parameters<HoldfastEvents[E]>
) => void
