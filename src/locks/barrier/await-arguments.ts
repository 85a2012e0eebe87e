import { show } from '../../kit/show.ts'
import { abortSignal, assertNoMore, unchecked, waitMs, wholeNumber } from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'

/** The options of `await` of a cyclic barrier. */
export interface BarrierAwaitOptions {
  /**
   * How many parties a round needs: a whole number from 1 to 10,000. All calls for one round must
   * give the same number.
   */
  parties: number
  /** The longest wait in milliseconds. Without `waitMs`, or with `Infinity`, there is no limit. 0 is invalid. */
  waitMs?: number
  /** If this signal aborts, the call rejects with `signal.reason`. */
  signal?: AbortSignal
}

/**
 * The largest number of parties. With more parties, the end of a round would block the server for
 * too long.
 */
const MOST_PARTIES = 10_000

const readAwait = shape('The options of await()', {
  parties: unchecked,
  waitMs: or(waitMs('To look without waiting, use inspect().'), Infinity),
  signal: abortSignal,
})

export function awaitArguments(name: string, options: unknown, others: readonly unknown[]) {
  assertNoMore(others)
  const { parties, ...limits } = readAwait(options)
  const what = `Barrier ${show(name)}: \`parties\``
  return { parties: wholeNumber(parties, what, 1, MOST_PARTIES, name), ...limits }
}

export type PartyOptions = ReturnType<typeof awaitArguments>
