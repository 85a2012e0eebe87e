import type { LeaseLostError, RedisUnavailableError } from './errors.ts'
import type { RunRecord } from './run-record.ts'

/** The fields of each event about one hold of a lock. */
export interface HoldEvent {
  /** The name that was given to `getLock` or a similar method. */
  readonly name: string
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The fencing token of the hold. */
  readonly token: number
}

/** A server has recovered from an outage. */
export interface RecoveredEvent {
  /**
   * The address of the server, without its login. Each of the `masters` and each node of a cluster has its own address.
   */
  readonly address: string
  /** The time from the first failure until the server answered, in milliseconds. */
  readonly durationMs: number
  /** The number of failed attempts during the outage. */
  readonly attempts: number
}

/** An outage of a server begins or continues. */
export interface OutageEvent {
  /**
   * The address of the server, without its login. Each of the `masters` and each node of a cluster has its own address.
   */
  readonly address: string
  /** How long the outage has lasted, in milliseconds; 0 when it begins. */
  readonly durationMs: number
  /** The number of failed attempts since the outage began. */
  readonly attempts: number
  /**
   * The failure of the last attempt, with a readable message. The `cause` of this error is the error of the network or
   * of the server.
   */
  readonly error: RedisUnavailableError
}

/** The client that requests the release. */
export interface Requester {
  /** The id of the client. */
  readonly client: string
  /**
   * The `label` of the client. Control characters are escaped, and the text is cut to 200
   * characters.
   */
  readonly label: string
}

/** A client or an operator requests the release of a hold. */
export interface ReleaseRequestedEvent extends HoldEvent {
  /**
   * The reason in the words of the requester; null if the requester gives no reason. Control characters are escaped,
   * and the text is cut to 200 characters.
   */
  readonly reason: string | null
  readonly by: Requester
}

/** A run of a job has crashed. */
export interface JobCrashedEvent {
  /** The name that `job` or `runOnce` received. */
  readonly name: string
  readonly run: RunRecord
  /** True if this client repeats the run. False if the tick is skipped, or if the next tick has begun. */
  readonly isRepeated: boolean
}

/** The events of a client, with the arguments of their listeners. */
export interface HoldfastEvents {
  /** The client acquired a lock. A re-entry emits no event. `waitedMs` is the time from the call to the grant. */
  acquired: (event: HoldEvent & { readonly waitedMs: number }) => void
  /** The last acquisition of a hold was released. */
  released: (event: HoldEvent) => void
  /** A call cannot acquire the lock at once and begins to wait, usually because another owner holds the lock. */
  wait: (event: { readonly name: string }) => void
  /** One request has renewed the leases of one or more holds; `holds` is their number. */
  renewed: (event: { readonly holds: number }) => void
  /**
   * A renewal, or a check of a fixed lease, was not confirmed. The lease is still valid for `remainingMs`, and the
   * client retries. If the lease is lost later, the client emits `lost`, and the signal of the lease aborts.
   */
  late: (event: HoldEvent & { readonly remainingMs: number; readonly cause: Error }) => void
  /** A hold was lost before it was released. The signals of its leases abort at the same moment. */
  lost: (event: HoldEvent & { readonly error: LeaseLostError }) => void
  /**
   * A server cannot be reached, does not answer, or refuses the connection. The client emits this event when the outage
   * begins, and after 5 s. Then the pauses between events double, up to five minutes. The event `error` reports the
   * outage too.
   */
  outage: (event: OutageEvent) => void
  /**
   * A server has answered for one second after an outage. After several outages within a minute, the server must answer
   * for longer, up to a minute. The client also emits this event if the server no longer belongs to its cluster.
   */
  recovered: (event: RecoveredEvent) => void
  /**
   * `requestRelease()` of a client, or `npx holdfast release --ask`, requests the release of a hold. The holder keeps
   * the lock, and decides whether to release it. When the client emits this event, the signals `releaseRequested` of
   * the hold's leases abort.
   */
  releaseRequested: (event: ReleaseRequestedEvent) => void
  /**
   * A call of `run` or `runOnce` found that an earlier run has crashed. The process of this run no longer holds the lock
   * of the job, and has stored no end.
   */
  jobCrashed: (event: JobCrashedEvent) => void
  /**
   * A failure that no call reports, such as an outage or a failed release in the background. Without a listener, the
   * event has no effect, and never ends the process.
   */
  error: (error: Error) => void
}

/**
 * Emits an event. An error of a listener becomes an uncaught exception, and the emitting code
 * continues.
 */
export type Emit = <E extends keyof HoldfastEvents>(
  event: E,
  ...args: Parameters<HoldfastEvents[E]>
) => void
