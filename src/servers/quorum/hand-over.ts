import type { Gone, HandOverAnswer, Yielded } from '../answers.ts'
import type { Reply } from '../reply.ts'
import type { Passing } from '../requests.ts'
import type { Decided } from './ballot.ts'
import { GrantBallot, type VotedLock } from './lock-ballot.ts'
import { isMixed } from './majority.ts'
import type { Voter } from './master/voter.ts'
import type { SplitVotes } from './split-votes.ts'
import { agreeOnToken } from './token-agreement.ts'

type HandOverLock = VotedLock & { readonly splitVotes: SplitVotes }

/** Passes a lock to another owner id of the same client. */
export class HandOverBallot extends GrantBallot<HandOverLock, Passing, Gone | Yielded> {
  protected request(master: Voter, reply: Reply<HandOverAnswer>): void {
    master.handOver(this.keys, this.question, reply)
  }

  protected isDecided(): Decided {
    return this.hasMajority || ((this.#isMixed || this.isGone) && 'nearly')
  }

  protected decided(): void {
    const { from, to, callMs } = this.question
    const { votes, all, keys } = this
    if (!this.hasMajority) {
      this.#unconfirmed()
      return
    }
    agreeOnToken(keys, to.owner, votes, all.size.majority, callMs, (grant) => {
      if (grant === null) this.#unconfirmed()
      else {
        this.abandon(from.owner)
        this.won(grant)
      }
    })
  }

  get #isMixed(): boolean {
    return isMixed(this.votes, this.all.size.majority)
  }

  /** Called if no majority has confirmed the hand-over and its token. */
  #unconfirmed(): void {
    const { from, to } = this.question
    if (this.#isMixed && !this.isGone) {
      this.abandon(from.owner)
      const yielded = this.lock.splitVotes.yielded(this.votes)
      if (yielded.split !== undefined) this.abandon(to.owner)
      this.reply.answered(yielded)
    } else if (this.isGone && !this.isOpen) {
      this.abandon(from.owner)
      this.reply.answered({ kind: 'gone' })
    } else this.fail(this.isOpen || this.count('yielded') > 0)
  }
}
