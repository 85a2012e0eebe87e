import type { CallFailure } from '../call-failure.ts'

/** What one of many was asked, and what came back. */
export interface Vote<M, A> {
  readonly member: M
  readonly answer: A
}

/** Whether the answers so far decide: at once, or after a short wait for the rest of them. */
type Decided = boolean | 'nearly'

/**
 * The rest is waited for as long again as it took so far, within these bounds, in milliseconds: those
 * who are as far away as the ones that have answered are about to answer as well.
 */
const GRACE_MS = { least: 3, most: 250 }

/**
 * Asks all at once, and goes on as soon as the answers so far decide.
 *
 * @param isDecided looks at the votes so far
 * @param late gets the votes that come after that
 * @param graceFactor how many times as long as usual the rest is waited for
 * @returns the votes that came before that: all, when nothing was decided
 */
export function askAll<M, T>(
  members: readonly M[],
  ask: (member: M) => Promise<T>,
  isDecided: (votes: readonly Vote<M, T | CallFailure>[]) => Decided,
  late: (vote: Vote<M, T | CallFailure>) => void = () => {},
  graceFactor = 1,
): Promise<Vote<M, T | CallFailure>[]> {
  return new Promise((resolve) => {
    const votes: Vote<M, T | CallFailure>[] = []
    const startedAt = performance.now()
    let over = false
    let grace: NodeJS.Timeout | undefined
    const end = () => {
      over = true
      clearTimeout(grace)
      resolve([...votes])
    }
    for (const member of members) {
      const heard = (answer: T | CallFailure) => {
        if (over) {
          late({ member, answer })
          return
        }
        votes.push({ member, answer })
        const decided = votes.length === members.length || isDecided(votes)
        if (decided === true) end()
        else if (decided === 'nearly') {
          const tookMs = performance.now() - startedAt
          const graceMs = Math.min(Math.max(tookMs, GRACE_MS.least), GRACE_MS.most)
          grace ??= setTimeout(end, graceMs * graceFactor)
        }
      }
      ask(member).then(heard, heard)
    }
  })
}
