import type { CallFailure } from './call-failure.ts'

/** What becomes of a request: one of the two is called, once, and never before the request was made. */
export interface Reply<A> {
  answered(answer: A): void
  failed(failure: CallFailure): void
}

/** The same as a promise, for whoever has more to wait for. */
export function promised<A>(send: (reply: Reply<A>) => void): Promise<A> {
  return new Promise((resolve, reject) => {
    send({ answered: resolve, failed: reject })
  })
}

/** Answers with what a promise comes to. */
export function replyWith<A>(work: Promise<A>, reply: Reply<A>): void {
  work.then(
    (answer) => reply.answered(answer),
    (failure: CallFailure) => reply.failed(failure),
  )
}
