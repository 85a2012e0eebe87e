import type { Gone, ReenterAnswer } from '../answers.ts'
import type { Reply } from '../reply.ts'
import type { Reentry } from '../requests.ts'
import type { Decided } from './ballot.ts'
import { GrantBallot, type VotedLock } from './lock-ballot.ts'
import { isMisused } from './majority.ts'
import type { Voter } from './master/voter.ts'

/** One more acquisition by the holder of a lock. */
export class ReentryBallot extends GrantBallot<VotedLock, Reentry, Gone> {
  protected request(master: Voter, reply: Reply<ReenterAnswer>): void {
    master.reenter(this.keys, this.question, reply)
  }

  protected isDecided(): Decided {
    const isLost = this.votes.length - this.count('granted') > this.all.size.spare
    return this.hasMajority || (isLost && 'nearly')
  }

  protected decided(): void {
    if (isMisused(this.votes)) this.fail(false)
    else if (this.hasMajority) this.won({ kind: 'granted', token: Number.NaN })
    else if (this.isGone) {
      this.abandon(this.question.owner)
      this.reply.answered({ kind: 'gone' })
    } else this.fail(this.isOpen)
  }
}
