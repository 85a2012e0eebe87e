import type { CallFailure } from '../call-failure.ts'

export interface Vote<M, A> {
  readonly member: M
  readonly answer: A
}

/**
 * True if the votes so far decide. `nearly` if they decide too, but the caller should first wait a
 * short time for more votes.
 */
type Decided = boolean | 'nearly'

/**
 * The shortest and the longest wait after `nearly`, in milliseconds. Between these bounds, the wait
 * is as long as the votes took so far. Members at a similar distance answer in this time.
 */
const GRACE_MS = { least: 3, most: 250 }

/**
 * Asks all members at once, and resolves as soon as the votes decide. A failure counts as an
 * answer, so the promise never rejects.
 *
 * @param isDecided called after each vote except the last, with the votes so far
 * @param late receives each vote that arrives after the decision
 * @param graceFactor multiplies the wait after `nearly`
 * @returns the votes that arrived before the decision; all votes if they never decided
 */
export function requestAll<M, T>(
  members: readonly M[],
  request: (member: M) => Promise<T>,
  isDecided: (votes: readonly Vote<M, T | CallFailure>[]) => Decided,
  late: (vote: Vote<M, T | CallFailure>) => void = () => {},
  graceFactor = 1,
): Promise<Vote<M, T | CallFailure>[]> {
  return new Promise((resolve) => {
    const votes: Vote<M, T | CallFailure>[] = []
    const startedAt = performance.now()
    let isFinished = false
    let grace: NodeJS.Timeout | undefined
    const finish = () => {
      isFinished = true
      clearTimeout(grace)
      resolve([...votes])
    }
    for (const member of members) {
      const handle = (answer: T | CallFailure) => {
        if (isFinished) {
          late({ member, answer })
          return
        }
        votes.push({ member, answer })
        const decided = votes.length === members.length || isDecided(votes)
        if (decided === true) finish()
        else if (decided === 'nearly') {
          const tookMs = performance.now() - startedAt
          const graceMs = Math.min(Math.max(tookMs, GRACE_MS.least), GRACE_MS.most)
          grace ??= setTimeout(finish, graceMs * graceFactor)
        }
      }
      request(member).then(handle, handle)
    }
  })
}
