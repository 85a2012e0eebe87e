import type { AcquireAnswer, Granted, Held } from '../answers.ts'
import { promised, type Reply, replyWith } from '../reply.ts'
import type { Attempt } from '../requests.ts'
import type { Decided } from './ballot.ts'
import type { First, HeadStart } from './head-start.ts'
import { GrantBallot, type VotedLock } from './lock-ballot.ts'
import { failuresOf, isMisused, isSplit } from './majority.ts'
import type { Voter } from './master/voter.ts'
import type { SplitVotes } from './split-votes.ts'
import { agreeOnToken } from './token-agreement.ts'

type AcquisitionLock = VotedLock & {
  readonly splitVotes: SplitVotes
  readonly headStart: HeadStart
}

/**
 * One attempt to acquire a lock, by the algorithm Redlock. The owner id gets the lock if a majority
 * of masters grants the lock. Otherwise the client usually releases the grants at once.
 */
export class AcquisitionBallot extends GrantBallot<AcquisitionLock, Attempt, Held> {
  /** The vote of the master that the client asked first. Undefined if it asked all masters at once. */
  #first: First | undefined

  /** Requests all votes at once. If many clients compete, requests one vote first. */
  override start(): void {
    const { headStart, splitVotes } = this.lock
    const request = (master: Voter) =>
      promised<AcquireAnswer>((reply) => master.acquire(this.keys, this.question, reply))
    const alone = headStart.requestFirst(request)
    if (alone === undefined) super.start(splitVotes.graceFactor)
    else void alone.then((first) => this.#goOn(first))
  }

  protected request(master: Voter, reply: Reply<AcquireAnswer>): void {
    if (master === this.#first?.master) replyWith(this.#first.vote, reply)
    else master.acquire(this.keys, this.question, reply)
  }

  protected isDecided(): Decided {
    const { majority, spare } = this.all.size
    const { votes, hasMajority } = this
    if (hasMajority) return true
    const isLost = votes.length - this.count('granted') > spare
    return (isLost || isSplit(votes, majority)) && 'nearly'
  }

  protected decided(): void {
    const { votes, all, keys } = this
    const { owner, callMs } = this.question
    if (isMisused(votes)) {
      this.abandon(owner)
      this.fail(false)
    } else if (!this.hasMajority) this.#refused()
    else {
      agreeOnToken(keys, owner, votes, all.size.majority, callMs, (grant) =>
        grant === null ? this.#refused() : this.#acquired(grant),
      )
    }
  }

  #goOn(first: First): void {
    const { splitVotes } = this.lock
    this.#first = first
    if (first.held === undefined) super.start(splitVotes.graceFactor)
    else {
      splitVotes.reset()
      this.reply.answered(first.held)
    }
  }

  #acquired(grant: Granted): void {
    this.lock.splitVotes.reset()
    this.lock.headStart.won()
    this.won(grant)
  }

  #refused(): void {
    const { votes } = this
    const { size } = this.all
    const { owner } = this.question
    if (failuresOf(votes).length > size.spare) {
      // After a final failure, the caller does not ask again. So the client also releases the
      // lock on masters that did not answer, because these masters may have granted the lock.
      const isFinal = size.isRefused(votes)
      if (isFinal) this.abandon(owner)
      this.fail(!isFinal && this.isOpen)
      return
    }
    const held = this.lock.splitVotes.held(votes)
    if (held.split !== undefined) this.abandon(owner)
    this.reply.answered(held)
  }
}
