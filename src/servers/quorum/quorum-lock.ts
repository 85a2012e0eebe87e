import type {
  AcquireAnswer,
  HandOverAnswer,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import type { HolderFacts, LockFacts } from '../facts.ts'
import type { Hint } from '../hint.ts'
import type { RemoteLock } from '../lock-server.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { Reply } from '../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { AcquisitionBallot } from './acquire.ts'
import { forceReleaseOnMost, seenByMost } from './force-release.ts'
import { HandOverBallot } from './hand-over.ts'
import { HeadStart } from './head-start.ts'
import { readFromMost } from './inspect.ts'
import { abandonOnAll, type LockMasters } from './lock-ballot.ts'
import { LowerBallot } from './lower.ts'
import type { RequestedMasters } from './majority.ts'
import type { Master } from './master/master.ts'
import { ReentryBallot } from './reenter.ts'
import { SplitVotes } from './split-votes.ts'

/**
 * After a lease has expired, its holder has this time to stop, in milliseconds. Then the client
 * releases the hold on the masters.
 */
const RAN_OUT_MS = 100

/** One lock on several masters. The votes of a majority decide. */
export class QuorumLock implements RemoteLock {
  readonly all: LockMasters & RequestedMasters<Master>
  readonly keys: LockKeys
  readonly splitVotes: SplitVotes
  readonly headStart: HeadStart

  constructor(all: LockMasters & RequestedMasters<Master>, keys: LockKeys) {
    this.all = all
    this.keys = keys
    this.splitVotes = new SplitVotes(all.size)
    this.headStart = new HeadStart(all.masters, all.size, all.roundTrips, keys)
  }

  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    new AcquisitionBallot(this, attempt, reply).start()
  }

  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    new ReentryBallot(this, reentry, reply).start(this.splitVotes.graceFactor)
  }

  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void {
    new HandOverBallot(this, passing, reply).start()
  }

  lower(ending: LoweredHold, reply: Reply<Released>): void {
    new LowerBallot(this, ending, reply).start()
  }

  /**
   * Needs no times from the caller, because each `Master` knows until when its requests may still
   * run.
   */
  abandon(owner: string): void {
    abandonOnAll(this.all.masters, this.keys, owner)
  }

  ranOut(owner: string): void {
    abandonOnAll(this.all.masters, this.keys, owner, performance.now() + RAN_OUT_MS)
  }

  seen(callMs: number): Promise<SeenHold | null> {
    return seenByMost(this.all, this.keys, this.all.callMs(callMs))
  }

  forceRelease(seen: SeenHold, callMs: number): Promise<boolean> {
    return forceReleaseOnMost(this.all, this.keys, seen, this.all.callMs(callMs))
  }

  async peek(callMs: number): Promise<HolderFacts> {
    const read = (lock: RemoteLock) => lock.peek(this.all.callMs(callMs))
    return this.all.size.holderOf(await readFromMost(this.all, this.keys, read))
  }

  async inspect(callMs: number): Promise<LockFacts> {
    const read = (lock: RemoteLock) => lock.inspect(this.all.callMs(callMs))
    return this.all.size.factsOf(await readFromMost(this.all, this.keys, read))
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.headStart.listen(onHint)
  }
}
