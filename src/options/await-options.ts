import { assertSignal, waitMs as checkedWaitMs, optionsOf } from './input.ts'
import type { AwaitOptions } from './options.ts'

/**
 * Reads the options of a call that waits and acquires nothing.
 *
 * @param call the call as error messages show it, such as `whenFree()`
 * @param instead the advice for a `waitMs` of 0: which call does not wait
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
