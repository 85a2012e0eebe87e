import type { CallFailure } from './call-failure.ts'

/**
 * Receives the outcome of a request. Exactly one of the two functions is called, once, and never
 * before the request was made.
 */
export interface Reply<A> {
  answered(answer: A): void
  failed(failure: CallFailure): void
}

/** Makes a promise of a reply, for callers that wait for several outcomes. */
export function promised<A>(send: (reply: Reply<A>) => void): Promise<A> {
  return new Promise((resolve, reject) => {
    send({ answered: resolve, failed: reject })
  })
}

/** Passes the outcome of a promise to a reply. */
export function replyWith<A>(work: Promise<A>, reply: Reply<A>): void {
  work.then(
    (answer) => reply.answered(answer),
    (failure: CallFailure) => reply.failed(failure),
  )
}
