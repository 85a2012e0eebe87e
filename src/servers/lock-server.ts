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
 * What a place where locks live must be able to do: one server, a majority of several, or another.
 * Every call ends within its `callMs`, and rejects with a {@link CallFailure} and nothing else.
 */
export interface LockServer {
  /** One lock there. Keep it while the lock is used: the place may remember things of it. */
  lock(rawName: string): RemoteLock
  /**
   * Renews many leases at once; a `leaseMs` of 0 only looks.
   *
   * @returns for each what is left of it in milliseconds, -1 without an expiry, -2 when its owner does
   * not hold it; or the failure of the call that it was part of
   */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** Confirms that enough replicas have what was granted. Left out where a grant counts without. */
  readonly confirm?: Confirm | undefined
  /** The indices of the locks, those together that one request can be about. */
  groups(locks: readonly { readonly key: string }[]): number[][]
  /** Takes several locks of one group, or none. Left out where that takes a request for each. */
  acquireAll?(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer>
  /** Where a lock stands among those there, the same for all clients: those of one group side by side. */
  orderOf(rawName: string): string
  /** Which place it is: the same for all clients as long as it runs; null when it does not tell. */
  identify(callMs: number): Promise<string | null>
  /** The fair locks there, as one client has places in their queues. Left out where there are none. */
  fairFor?(clientId: string, label: string): FairServer
  /** The read-write locks there, as one client waits for them. Left out where there are none. */
  readWriteFor?(clientId: string): ReadWriteServer
  /** One count-down latch there. Left out where there are none. */
  latch?(rawName: string): RemoteLatch
  /** Where it is told who leads, of the lock of an election. Left out where there are no fair locks. */
  electionChannel?(rawName: string): ElectionChannel
  /**
   * The semaphores there, as one client waits for them. Left out where there are none.
   *
   * @param outageMs for how long a request is sent again, in milliseconds
   */
  semaphoresFor?(clientId: string, outageMs: number): SemaphoreServer
  /** The semaphores there whose permits have leases, as one client waits for them. Left out where there are none. */
  permitsFor?(clientId: string): PermitServer
  /** Where clients ask each other to release locks. */
  readonly requests: RequestChannel
  /** What a client tells there of itself, and is told of others. */
  presenceFor(own: OwnInfo): Presence
  /** How each of several masters does, which are to have these leases. Left out where there is one server. */
  health?(leases: readonly LeaseToRenew[], callMs: number): Promise<MasterHealth[]>
  /** Why it cannot be a vote among several, in words that follow the name of a lock; null when it can. */
  readonly whyNoVote: string | null
  /** How long after its deadline a request may still run, in milliseconds. */
  readonly lateAtMostMs: number
  /**
   * Whether a release is told how many listen to it, be they connected anywhere: each client once,
   * however often it listens.
   */
  readonly countsListeners: boolean
  /** Why it cannot be reached; undefined when it can, or nothing is known. */
  readonly whyDown: CallFailure | undefined
  /** Whether it could be reached ever. */
  readonly everUp: boolean
  /** Calls `onUp` whenever it was connected, be it to another server, until the result is called. */
  onUp(onUp: () => void): () => void
  connect(): void
  /** Ends when nothing is under way or pending there that nobody waits for; for when it is being closed. */
  quiet(): Promise<void>
  close(): void
}

/**
 * One lock at its place: its verbs. Those that are on the way of every acquisition answer by {@link Reply},
 * which takes no promise.
 */
export interface RemoteLock {
  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void
  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /** Passes the lock from one owner of a client to another, or frees it for others who listen. */
  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void
  /** Lowers the hold count; at zero it frees the lock. */
  release(ending: Ending, reply: Reply<Released>): void
  /**
   * Goes on freeing in the background, whatever the owner has. The name is not used again.
   *
   * @param untilMs until when a delayed request in that name may still run, on the monotonic clock
   * @param leaseMs the longest lease that it could have
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
  /**
   * The time of that hold ran out, and nobody has released it: for places that keep an account of names.
   * Unlike what is abandoned it is not freed before its holder could stop.
   */
  ranOut?(owner: string): void
  /** The hold that force would end; null when the lock is free. */
  seen(callMs: number): Promise<SeenHold | null>
  /** Ends that hold and no other: whether it was there still. */
  forceRelease(seen: SeenHold, callMs: number): Promise<boolean>
  /** Who has it: as quick with thousands who wait as with none. */
  peek(callMs: number): Promise<HolderFacts>
  /** Who has it, and who waits for it. */
  inspect(callMs: number): Promise<LockFacts>
  /**
   * Calls `onWake` with each message, and without one when any may have been missed: so also once
   * after it has begun to listen.
   */
  listen(onWake: (message?: string) => void): Subscription
}

export interface Passing {
  readonly from: { readonly owner: string; readonly token: number }
  readonly to: { readonly owner: string; readonly leaseMs: number }
  /**
   * How many of those who listen are this client's own, when the lock is to be freed for others who do;
   * null when it is to stay in this client.
   */
  readonly listening: number | null
  /** How many tokens are wanted beside the one. */
  readonly reserve: number
  readonly callMs: number
}
