import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import { assertNoMore, assertSignal, optionsOf, waitMs as waitMsOf } from '../../options/input.ts'
import type { AwaitOptions, LatchRoundOptions } from '../../options/options.ts'

export function awaitArguments(options: unknown, others: readonly unknown[]): AwaitOptions {
  assertNoMore(others)
  if (options === undefined) return {}
  const known = ['round', 'waitMs', 'signal']
  const given = optionsOf(options, 'The options of await()', known) as AwaitOptions
  const { round, waitMs, signal } = given
  assertSignal(signal)
  if (waitMs !== undefined) waitMsOf(waitMs, 'To ask once without waiting, use count().')
  if (round !== undefined) assertRound(round)
  return given
}

/**
 * Returns the `round` in the options; undefined if the call applies to any round.
 *
 * @param call the call as users write it, for errors
 * @param hint advice for the error if there are too many arguments
 */
export function roundOf(
  options: unknown,
  call: string,
  others: readonly unknown[],
  hint?: string,
): number | undefined {
  assertNoMore(others, hint)
  if (options === undefined) return undefined
  if (typeof options !== 'object') assertNoMore([options], hint)
  const given = optionsOf(options, `The options of ${call}`, ['round']) as LatchRoundOptions
  assertRound(given.round)
  return given.round
}

function assertRound(round: unknown): void {
  if (Number.isSafeInteger(round) && (round as number) > 0) return
  throw new InvalidArgumentError(
    `\`round\` must be the number of a round, as inspect() returns it; got ${show(round)}. ` +
      'If inspect() returned null, the latch is open or Redisson set its count: leave `round` out.',
  )
}
