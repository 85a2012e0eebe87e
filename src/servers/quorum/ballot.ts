import type { CallFailure } from '../call-failure.ts'
import type { Reply } from '../reply.ts'

export interface Vote<M, A> {
  readonly member: M
  readonly answer: A
}

/**
 * `true`: the votes so far decide. `nearly`: they decide too, but the ballot waits a short time for
 * more votes.
 */
export type Decided = boolean | 'nearly'

/**
 * The limits of the wait after `nearly`, in milliseconds. Between these limits, the wait is as long
 * as the votes took so far. Then `graceFactor` multiplies the wait.
 */
const GRACE_MS = { least: 3, most: 250 }

/** One question to several members. The votes decide, and a failure counts as a vote. */
export abstract class Ballot<M, A> {
  /** The votes that arrived before the decision. Contains all votes if the last vote decided. */
  readonly votes: Vote<M, A | CallFailure>[] = []
  readonly #members: readonly M[]
  #graceFactor = 1
  #startedAt = 0
  #isFinished = false
  #grace: NodeJS.Timeout | undefined

  constructor(members: readonly M[]) {
    this.#members = members
  }

  /**
   * Requests all votes at once.
   *
   * @param graceFactor multiplies the wait for more votes after the decision `nearly`
   */
  start(graceFactor = 1): void {
    this.#graceFactor = graceFactor
    this.#startedAt = performance.now()
    for (const member of this.#members) this.request(member, new MemberVote(this, member))
  }

  /** @internal */
  receive(vote: Vote<M, A | CallFailure>): void {
    if (this.#isFinished) {
      this.late(vote)
      return
    }
    this.votes.push(vote)
    const decided = this.areAllIn || this.isDecided()
    if (decided === true) this.#finish()
    else if (decided === 'nearly') {
      const tookMs = performance.now() - this.#startedAt
      const graceMs = Math.min(Math.max(tookMs, GRACE_MS.least), GRACE_MS.most)
      this.#grace ??= setTimeout(() => this.#finish(), graceMs * this.#graceFactor)
    }
  }

  protected get areAllIn(): boolean {
    return this.votes.length === this.#members.length
  }

  protected abstract request(member: M, reply: Reply<A>): void

  /** Called after each vote before the decision. Not called after the last vote of all members. */
  protected abstract isDecided(): Decided

  /** Called once, when the votes have decided. */
  protected abstract decided(): void

  /** Called with each vote that arrives after the decision. Does nothing by default. */
  protected late(_vote: Vote<M, A | CallFailure>): void {}

  #finish(): void {
    this.#isFinished = true
    clearTimeout(this.#grace)
    this.decided()
  }
}

/** Receives the vote of one member, and passes the vote on to the ballot. */
class MemberVote<M, A> implements Reply<A>, Vote<M, A | CallFailure> {
  readonly member: M
  answer!: A | CallFailure
  readonly #ballot: Ballot<M, A>

  constructor(ballot: Ballot<M, A>, member: M) {
    this.#ballot = ballot
    this.member = member
  }

  answered(answer: A): void {
    this.answer = answer
    this.#ballot.receive(this)
  }

  failed(failure: CallFailure): void {
    this.answer = failure
    this.#ballot.receive(this)
  }
}
