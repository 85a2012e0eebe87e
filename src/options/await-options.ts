import { assertSignal, waitMs as checkedWaitMs, optionsOf } from './input.ts'
import type { AwaitOptions } from './options.ts'

/**
 * How options of a wait are meant that acquires nothing.
 *
 * @param call as in `whenFree()`
 * @param instead what to call if nobody is to wait
 */
export function awaitOptionsOf(
  options: unknown,
  call: string,
  instead: string,
): { waitMs: number; signal: AbortSignal | undefined } {
  const given = optionsOf(options ?? {}, `The options of ${call}`, ['waitMs', 'signal'])
  const { waitMs = Infinity, signal } = given as AwaitOptions
  assertSignal(signal)
  return { waitMs: checkedWaitMs(waitMs, instead), signal }
}
