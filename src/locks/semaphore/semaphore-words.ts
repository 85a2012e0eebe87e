import type { Words } from '../../errors.ts'
import type { CallFailure } from '../../servers/call-failure.ts'

export const OF_SEMAPHORE: Words = {
  noun: 'Semaphore',
  unavailable: 'It is unknown how many permits are available.',
}

export function permitsIn(count: number): string {
  return `${count} ${count === 1 ? 'permit' : 'permits'}`
}

/** As the subject of what was done with them. */
export function permitsWere(count: number): string {
  return `${permitsIn(count)} ${count === 1 ? 'was' : 'were'}`
}

/**
 * What to tell of a change that failed. It was not made if each request was refused, or never sent; else nobody knows.
 *
 * @param what as in "3 permits were"
 * @param done as in "released"
 * @returns to be called with each failure
 */
export function outcomeWords(what: string, done: string): (failure: CallFailure) => string {
  let isUnknown = false
  return ({ kind }) => {
    isUnknown ||= kind === 'unknown'
    return isUnknown
      ? `${what} possibly ${done}, but Redis did not confirm it`
      : `${what} not ${done}`
  }
}
