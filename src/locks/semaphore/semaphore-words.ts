import type { Words } from '../../errors.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { ServerWords } from '../../servers/server-words.ts'

export const OF_SEMAPHORE: Words = {
  noun: 'Semaphore',
  unavailable: 'It is unknown how many permits are available.',
}

export function permitsIn(count: number): string {
  return `${count} ${count === 1 ? 'permit' : 'permits'}`
}

/** Returns the subject and verb of a sentence about permits, such as "3 permits were". */
export function permitsWere(count: number): string {
  return `${permitsIn(count)} ${count === 1 ? 'was' : 'were'}`
}

/**
 * Returns a function that describes a failed change for an error. If every request was refused or
 * never sent, the change did not happen. Otherwise the outcome is unknown.
 *
 * @param what the subject and verb, such as "3 permits were"
 * @param done the past participle, such as "released"
 * @returns the function, which the caller must call with each failure
 */
export function outcomeWords(
  what: string,
  done: string,
  { name }: ServerWords,
): (failure: CallFailure) => string {
  let isUnknown = false
  return ({ kind }) => {
    isUnknown ||= kind === 'unknown'
    return isUnknown
      ? `${what} possibly ${done}, but ${name} did not confirm it`
      : `${what} not ${done}`
  }
}
