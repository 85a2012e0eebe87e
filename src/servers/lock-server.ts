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
   * Renews many leases. With a `leaseMs` of 0 it only looks.
   *
   * @returns for each lease the rest of it in milliseconds; -1 means no expiry; -2 means that its
   * owner does not hold the lock. If a request fails, each of its leases gets the failure
   */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** Confirms that enough replicas have a grant. Left out if a grant counts without that. */
  readonly confirm?: Confirm | undefined
  /** The indices of the locks, grouped by what one request can handle. */
  groups(locks: readonly { readonly key: string }[]): number[][]
  /**
   * Acquires several locks of one group, or none. Left out if each lock needs a request of its own.
   */
  acquireAll?(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer>
  /** A text to sort locks by, equal for all clients. Locks of one group are neighbours. */
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
   * The state of each of several masters, and how many of these leases it lacks. Left out for a
   * single server.
   */
  health?(leases: readonly LeaseToRenew[], callMs: number): Promise<MasterHealth[]>
  /**
   * Why the server cannot vote among several, in words that follow the name of a lock; null if it
   * can.
   */
  readonly whyNoVote: string | null
  /** How long after its deadline a request may still run, in milliseconds. */
  readonly lateAtMostMs: number
  /**
   * True if the answer to a release counts all listeners, wherever they are connected. A client
   * counts once.
   */
  readonly countsListeners: boolean
  /** Why the server is unreachable; undefined if it is reachable, or nothing is known. */
  readonly whyDown: CallFailure | undefined
  /** True if the server was ever reachable. */
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
 * The requests of one lock. Each acquisition needs some of them, so these answer by {@link Reply},
 * which costs no promise.
 */
export interface RemoteLock {
  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void
  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /** Passes the lock from one owner of a client to another, or frees it for other clients. */
  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void
  /** Lowers the hold count; at zero it frees the lock. */
  release(ending: Ending, reply: Reply<Released>): void
  /**
   * Releases every hold of the owner in the background, until that is confirmed. The owner name is
   * not used again.
   *
   * @param untilMs until when a delayed request in that name may still run, on the monotonic clock
   * @param leaseMs the longest lease that such a request could get
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
  /**
   * The lease of a hold has expired without a release. Only for servers that keep accounts of owner
   * names. Unlike `abandon`, it does not free the lock before its holder could stop.
   */
  ranOut?(owner: string): void
  /** The hold to end by force; null if the lock is free. */
  seen(callMs: number): Promise<SeenHold | null>
  /** Ends exactly this hold. Returns true if it still existed. */
  forceRelease(seen: SeenHold, callMs: number): Promise<boolean>
  /** The holder. As quick with thousands of waiters as with none. */
  peek(callMs: number): Promise<HolderFacts>
  /** The holder and the waiters. */
  inspect(callMs: number): Promise<LockFacts>
  /**
   * Calls `onWake` with each message, and without one after a possible gap. So it is also called
   * once after the subscription begins.
   */
  listen(onWake: (message?: string) => void): Subscription
}

export interface Passing {
  readonly from: { readonly owner: string; readonly token: number }
  readonly to: { readonly owner: string; readonly leaseMs: number }
  /**
   * How many listeners belong to this client, if the lock is to be freed for other listeners; null
   * keeps the lock in this client.
   */
  readonly listening: number | null
  /** The number of tokens wanted beside the first one. */
  readonly reserve: number
  readonly callMs: number
}
