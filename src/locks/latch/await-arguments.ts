import { InvalidArgumentError, show } from '../../errors.ts'
import { assertKnown, assertSignal, wholeWaitMs } from '../../options/input.ts'
import type { AwaitOptions } from '../../options/options.ts'

/** How the options of `await` are meant. */
export function awaitArguments(options: unknown): AwaitOptions {
  if (options === undefined) return {}
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `Options of await must be an object, as { waitMs: 500 }; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), ['waitMs', 'signal'])
  const { waitMs, signal } = options as AwaitOptions
  assertSignal(signal)
  if (waitMs !== undefined) wholeWaitMs(waitMs, 'To ask once without waiting there is count().')
  return options
}
