import type {
  AcquireAnswer,
  HandOverAnswer,
  JointAnswer,
  LeaseToRenew,
  ReenterAnswer,
  Released,
  SeenHold,
} from './answers.ts'
import type { ConnectedServer } from './connected-server.ts'
import type { HolderFacts, LockFacts } from './facts.ts'
import type { Hint } from './hint.ts'
import type { MasterHealth } from './master-health.ts'
import type { OwnInfo, Presence } from './presence.ts'
import type { Renewal } from './renewal.ts'
import type { Reply } from './reply.ts'
import type { RequestChannel } from './request-channel.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from './requests.ts'
import type { KindClient, ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/**
 * The interface to the locks on one server, on several masters or in memory. Each call settles
 * within its `callMs`. A failed call rejects with a {@link CallFailure}.
 */
export interface LockServer extends ConnectedServer, Renewal {
  /**
   * Returns the requests of one lock. Keep the object while the lock is in use, because it may
   * store state of the lock.
   */
  lock(rawName: string): RemoteLock
  /**
   * Acquires several locks of one group: all of them, or none. Undefined if the server cannot
   * acquire several locks in one request.
   */
  acquireAll?(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer>
  /**
   * Returns the key by which all clients sort their locks. Locks of one group are next to each
   * other in this order.
   */
  orderOf(rawName: string): string
  /**
   * Returns the requests of one client for another kind, such as latches. Undefined if the server
   * has only locks.
   */
  kind?<R extends object>(kind: ServerKind<R>, client: KindClient): R | undefined
  /** Carries messages between clients, such as the request to release a lock. */
  readonly requests: RequestChannel
  /** Returns the object that reports this client and reads the reports of other clients. */
  presenceFor(own: OwnInfo): Presence
  /**
   * Returns the state of each master, and how many of the given leases each master lacks. Undefined
   * for a single server.
   */
  health?(leases: readonly LeaseToRenew[], callMs: number): Promise<MasterHealth[]>
  /**
   * Called when the client closes. Resolves when no release and no other background work is
   * pending. A quorum does not wait for a minority of masters that is down.
   */
  quiet(): Promise<void>
}

/**
 * The requests of one lock. Frequent requests answer by {@link Reply}, because a promise would take
 * more time.
 */
export interface RemoteLock {
  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void
  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Passes the lock to another owner of the same client. If other clients wait, the server may
   * free the lock instead.
   */
  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void
  /** Lowers the hold count to `ending.holds`. At 0 the server frees the lock. */
  lower(ending: LoweredHold, reply: Reply<Released>): void
  /**
   * Releases every hold of the owner in the background. Repeats the release until the server
   * confirms it, or until no lease can be left. The caller must not use the owner id again.
   *
   * @param untilMs until when the server may still run a delayed request with this owner id, in ms
   * on the monotonic clock
   * @param leaseMs the longest lease that a delayed request could get, in milliseconds
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
  /**
   * Called when the lease of a hold has expired without a release. A quorum releases the owner id
   * after a short delay, so that the holder can stop first. Undefined for a single server.
   */
  ranOut?(owner: string): void
  /** Returns the current hold, for a call of `forceRelease`; null if the lock is free. */
  seen(callMs: number): Promise<SeenHold | null>
  /**
   * Ends the hold `seen`, but no later hold of the lock. Returns true if the hold still existed.
   */
  forceRelease(seen: SeenHold, callMs: number): Promise<boolean>
  /** Reads the holder, but not the waiters. Many waiters do not make this call slower. */
  peek(callMs: number): Promise<HolderFacts>
  inspect(callMs: number): Promise<LockFacts>
  /**
   * Calls `onHint` with each hint about the lock. Calls `onHint` with {@link MISSED} when the
   * subscription begins, and when this client may have missed hints.
   */
  listen(onHint: (hint: Hint) => void): Subscription
}
