import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import { abortSignal, assertNoMore, unchecked, waitMs } from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'

const readAwait = shape('The options of await()', {
  round: checkedRound,
  waitMs: or(waitMs('To ask once without waiting, use count().'), Infinity),
  signal: abortSignal,
})

export function awaitArguments(options: unknown = {}, others: readonly unknown[]) {
  assertNoMore(others)
  return readAwait(options)
}

export type AwaiterOptions = ReturnType<typeof awaitArguments>

/**
 * Returns a function that reads the `round` in the options of a call. The function returns
 * undefined if the call applies to any round.
 *
 * @param call the call as users write it, for errors
 * @param hint advice for the error if there are too many arguments
 */
function roundOf(call: string, hint?: string) {
  const read = shape(`The options of ${call}`, { round: unchecked })
  return (options: unknown, others: readonly unknown[]): number | undefined => {
    assertNoMore(others, hint)
    if (options === undefined) return undefined
    if (typeof options !== 'object') assertNoMore([options], hint)
    return checkedRound(read(options).round)
  }
}

export const roundToCountDown = roundOf('countDown()', 'It counts down by one.')
export const roundToDelete = roundOf('delete()')

function checkedRound(round: unknown): number {
  if (Number.isSafeInteger(round) && (round as number) > 0) return round as number
  throw new InvalidArgumentError(
    `\`round\` must be the number of a round, as inspect() returns it; got ${show(round)}. ` +
      'If inspect() returned null, the latch is open or Redisson set its count: leave `round` out.',
  )
}
