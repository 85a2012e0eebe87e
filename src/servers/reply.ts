import type { CallFailure } from './call-failure.ts'

/**
 * Receives the outcome of one request. Exactly one of the two functions is called, exactly once.
 */
export interface Reply<A> {
  answered(answer: A): void
  failed(failure: CallFailure): void
}

/** For a request whose outcome changes nothing for the client. */
export const NO_REPLY: Reply<unknown> = { answered() {}, failed() {} }

/** Returns the reply to one request that does two things. Each given reply gets its part of the answer. */
export function bothReplies<A, B>(first: Reply<A>, second: Reply<B>): Reply<readonly [A, B]> {
  return {
    answered: ([one, other]) => {
      first.answered(one)
      second.answered(other)
    },
    failed: (failure) => {
      first.failed(failure)
      second.failed(failure)
    },
  }
}

/** Returns a promise for the outcome of one request. */
export function promised<A>(send: (reply: Reply<A>) => void): Promise<A> {
  return new Promise((resolve, reject) => {
    send({ answered: resolve, failed: reject })
  })
}

export function replyWith<A>(work: Promise<A>, reply: Reply<A>): void {
  work.then(
    (answer) => reply.answered(answer),
    (failure: CallFailure) => reply.failed(failure),
  )
}
