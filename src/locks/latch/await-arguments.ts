import { assertSignal, optionsOf, wholeWaitMs } from '../../options/input.ts'
import type { AwaitOptions } from '../../options/options.ts'

/** How the options of `await` are meant. */
export function awaitArguments(options: unknown): AwaitOptions {
  if (options === undefined) return {}
  const given = optionsOf(options, 'The options of await()', ['waitMs', 'signal']) as AwaitOptions
  const { waitMs, signal } = given
  assertSignal(signal)
  if (waitMs !== undefined) wholeWaitMs(waitMs, 'To ask once without waiting there is count().')
  return given
}
