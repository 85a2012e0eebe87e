import type {
  AcquireAnswer,
  HandOverAnswer,
  HolderFacts,
  JointAnswer,
  LeaseToRenew,
  LockFacts,
  ReenterAnswer,
  Released,
  SeenHold,
} from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import type { Confirm } from './durability.ts'
import type { ElectionChannel } from './election-channel.ts'
import type { FairServer } from './fair-server.ts'
import type { RemoteLatch } from './latch-server.ts'
import type { MasterHealth } from './master-health.ts'
import type { PermitServer } from './permit-server.ts'
import type { OwnInfo, Presence } from './presence.ts'
import type { ReadWriteServer } from './read-write-server.ts'
import type { Reply } from './reply.ts'
import type { RequestChannel } from './request-channel.ts'
import type { Attempt, Ending, Reentry } from './requests.ts'
import type { SemaphoreServer } from './semaphore-server.ts'
import type { ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

export type { Attempt, Ending, Reentry } from './requests.ts'

/**
 * The port to a place that stores locks: one server, several masters, or memory. Every call ends
 * within its `callMs`. A failed call rejects with a {@link CallFailure}.
 */
export interface LockServer {
  /** Keep the object while the lock is used, because it may store state of the lock. */
  lock(rawName: string): RemoteLock
  /**
   * Renews many leases. With a `leaseMs` of 0, it only reads their remaining times.
   *
   * @returns for each lease the remaining time in milliseconds; -1 means no expiry; -2 means that
   * its owner does not hold the lock. If a request fails, each of its leases gets the failure
   */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** Confirms that enough replicas have a grant. Left out if a grant needs no confirmation. */
  readonly confirm?: Confirm | undefined
  /** Groups the locks, so that one request can handle each group. Returns indices of `locks`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
  /**
   * Acquires several locks of one group, or none. Left out if each lock needs a request of its own.
   */
  acquireAll?(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer>
  /** The sort key of a lock, equal for all clients. It sorts the locks of one group together. */
  orderOf(rawName: string): string
  /**
   * An id of the server, equal for all clients while it runs; null if the server does not report
   * one.
   */
  identify(callMs: number): Promise<string | null>
  /** The fair locks, for one client. Left out if there are none. */
  fairFor?(clientId: string, label: string): FairServer
  /** The read-write locks, for one client. Left out if there are none. */
  readWriteFor?(clientId: string): ReadWriteServer
  /** A count-down latch. Left out if there are none. */
  latch?(rawName: string): RemoteLatch
  /** The requests of another kind for one name. Left out if there are no other kinds. */
  kind?<R extends object>(kind: ServerKind<R>, rawName: string): R | undefined
  /** Announces the leaders of one election. Left out if there are no fair locks. */
  electionChannel?(rawName: string): ElectionChannel
  /**
   * The semaphores without leases, for one client. Left out if there are none.
   *
   * @param outageMs how long a request is sent again, in milliseconds
   */
  semaphoresFor?(clientId: string, outageMs: number): SemaphoreServer
  /** The semaphores whose permits have leases, for one client. Left out if there are none. */
  permitsFor?(clientId: string): PermitServer
  /** Carries the requests of clients to each other to release locks. */
  readonly requests: RequestChannel
  /** Reports a client to other clients, and reads what they report. */
  presenceFor(own: OwnInfo): Presence
  /**
   * Returns the state of each master, and how many of these leases the master lacks. Left out for a
   * single server.
   */
  health?(leases: readonly LeaseToRenew[], callMs: number): Promise<MasterHealth[]>
  /**
   * Why the server cannot be a master of a quorum, as words that follow the name of a lock; null if
   * it can.
   */
  readonly whyNoVote: string | null
  /** How long after its deadline a request may still run, in milliseconds. */
  readonly lateAtMostMs: number
  /** True if the answer to a release counts the listeners on all nodes. A client counts once. */
  readonly countsListeners: boolean
  /** The address of a single server, for messages; without login. Left out for several servers. */
  readonly address?: string
  /** Why the server is unreachable; undefined if it is reachable, or its state is unknown. */
  readonly whyDown: CallFailure | undefined
  /**
   * True if the server was ever reachable. A server in memory counts as never reachable during an
   * outage.
   */
  readonly everUp: boolean
  /**
   * Calls `onUp` after each connect, even to another server, until the returned function is called.
   */
  onUp(onUp: () => void): () => void
  connect(): void
  /** Resolves when no background work is pending. Called when the client closes. */
  quiet(): Promise<void>
  close(): void
}

/**
 * The requests of one lock. The requests that most acquisitions need answer by {@link Reply},
 * because a promise would take more time.
 */
export interface RemoteLock {
  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void
  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /** Passes the lock to another owner of the same client, or frees the lock for other clients. */
  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void
  /** Lowers the hold count. At zero, the lock becomes free. */
  release(ending: Ending, reply: Reply<Released>): void
  /**
   * Releases every hold of the owner in the background, and repeats this until the server confirms
   * it. The caller must not use the owner name again.
   *
   * @param untilMs until when a delayed request in that name may still run, on the monotonic clock
   * @param leaseMs the longest lease that such a request could get
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
  /**
   * Called when the lease of a hold has expired without a release. A quorum then releases the owner
   * name a moment later than `abandon` would, so that the holder can stop first. Left out for
   * servers other than a quorum.
   */
  ranOut?(owner: string): void
  /** Reads the hold that `forceRelease` can end; null if the lock is free. */
  seen(callMs: number): Promise<SeenHold | null>
  /** Ends exactly this hold. Returns true if it still existed. */
  forceRelease(seen: SeenHold, callMs: number): Promise<boolean>
  /** Reads the holder. The time does not depend on the number of waiters. */
  peek(callMs: number): Promise<HolderFacts>
  /** Reads the holder and the waiters. */
  inspect(callMs: number): Promise<LockFacts>
  /**
   * Calls `onWake` with each message, and without a message when messages may have been missed. So
   * `onWake` is also called once after the subscription begins.
   */
  listen(onWake: (message?: string) => void): Subscription
}

export interface Passing {
  readonly from: { readonly owner: string; readonly token: number }
  readonly to: { readonly owner: string; readonly leaseMs: number }
  /**
   * The number of this client's own listeners. If others listen too, the server frees the lock for
   * them. With null, this client always keeps the lock.
   */
  readonly listening: number | null
  /** How many more tokens to reserve for later hand-overs in this client. */
  readonly reserve: number
  readonly callMs: number
}
