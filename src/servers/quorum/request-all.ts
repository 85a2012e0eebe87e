import type { CallFailure } from '../call-failure.ts'
import { type Reply, replyWith } from '../reply.ts'
import { Ballot, type Decided, type Vote } from './ballot.ts'

interface Question<M, T> {
  readonly request: (member: M) => Promise<T>
  /**
   * Called with the votes so far, after each vote before the decision. Not called after the last
   * vote of all members.
   */
  readonly isDecided: (votes: readonly Vote<M, T | CallFailure>[]) => Decided
  /** Receives each vote that arrives after the decision. */
  readonly late?: ((vote: Vote<M, T | CallFailure>) => void) | undefined
  readonly resolve: (votes: Vote<M, T | CallFailure>[]) => void
}

class PromisedBallot<M, T> extends Ballot<M, T> {
  readonly #question: Question<M, T>

  constructor(members: readonly M[], question: Question<M, T>) {
    super(members)
    this.#question = question
  }

  protected request(member: M, reply: Reply<T>): void {
    replyWith(this.#question.request(member), reply)
  }

  protected isDecided(): Decided {
    return this.#question.isDecided(this.votes)
  }

  protected decided(): void {
    this.#question.resolve(this.votes)
  }

  protected override late(vote: Vote<M, T | CallFailure>): void {
    this.#question.late?.(vote)
  }
}

/** Asks all members in a {@link Ballot}, and returns a promise for the votes. Never rejects. */
export function requestAll<M, T>(
  members: readonly M[],
  request: Question<M, T>['request'],
  isDecided: Question<M, T>['isDecided'],
  late?: Question<M, T>['late'],
): Promise<Vote<M, T | CallFailure>[]> {
  return new Promise((resolve) => {
    new PromisedBallot(members, { request, isDecided, late, resolve }).start()
  })
}
