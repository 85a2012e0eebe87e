import type { Released } from '../answers.ts'
import type { Reply } from '../reply.ts'
import type { LoweredHold } from '../requests.ts'
import type { HeadStart } from './head-start.ts'
import { LockBallot, type VotedLock } from './lock-ballot.ts'
import { answersOf, countAnswers } from './majority.ts'
import type { Voter } from './master/voter.ts'

type LowerLock = VotedLock & { readonly headStart: HeadStart }

/**
 * Lowers a hold count; 0 ends the hold. Sends no token, because each owner id has at most one
 * grant.
 */
export class LowerBallot extends LockBallot<LowerLock, LoweredHold, Released> {
  protected request(master: Voter, reply: Reply<Released>): void {
    const { owner, holds, callMs } = this.question
    master.lower(this.keys, { owner, holds, token: '', callMs }, reply)
  }

  protected isDecided(): boolean {
    return this.#confirmed >= this.all.size.majority || this.isGone
  }

  protected decided(): void {
    const { owner, holds } = this.question
    const { votes } = this
    this.lock.headStart.released(votes)
    if (countAnswers(votes) < this.all.size.majority && !this.isGone) {
      this.fail(this.#confirmed > 0)
      return
    }
    // Masters that have not confirmed the release get the request again.
    if (holds === 0) this.abandon(owner)
    if (this.isGone) this.reply.answered({ kind: 'gone' })
    else if (holds > 0) this.reply.answered({ kind: 'kept' })
    else this.reply.answered({ kind: 'freed', others: this.#others })
  }

  /** The number of masters that had the hold. */
  get #confirmed(): number {
    return countAnswers(this.votes) - this.count('gone')
  }

  /** The number of other clients that wait. The masters also count this client if it listens. */
  get #others(): number {
    const waiting = answersOf(this.votes).map((one) =>
      one.kind === 'freed' ? (one.others ?? 1) : 0,
    )
    return Math.max(0, Math.max(0, ...waiting) - Number(this.question.listens ?? false))
  }
}
