import { InvalidArgumentError } from '../../errors.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import type { PermitAnswer, TooMany } from '../../servers/permit-pool.ts'

/**
 * A waiter sends its request again after at most this time, in milliseconds. So the server knows
 * that the waiter still waits.
 */
const ASK_AGAIN_MS = 1_000

/** Shortens the wait of a refused waiter to `ASK_AGAIN_MS`. */
export function soon(answer: AcquireAnswer): AcquireAnswer {
  const isLong = answer.kind === 'held' && answer.ttlMs > ASK_AGAIN_MS
  return isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer
}

/** Returns the total number of permits; undefined if the answer does not contain it. */
export function inAllOf(answer: PermitAnswer): number | undefined {
  if (answer.kind === 'granted') return answer.inAll
  if (answer.kind === 'tooMany') return answer.available + answer.taken
  const { isSet, available, taken } = answer.seen
  return isSet && taken !== null ? available + taken : undefined
}

/** Makes the error of a call that requested more permits than exist in total. */
export function tooManyError(
  name: string,
  permits: number,
  { available, taken }: TooMany,
): InvalidArgumentError {
  return new InvalidArgumentError(
    `Semaphore "${name}": ${permits} permits were requested, but there are ` +
      `only ${available + taken} in all (${available} available, ${taken} taken). Request fewer, or set more permits.`,
    name,
  )
}
