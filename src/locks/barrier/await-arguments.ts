import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import { assertNoMore, assertSignal, optionsOf, waitMs as waitMsOf } from '../../options/input.ts'

/** The options of `await` of a cyclic barrier. */
export interface BarrierAwaitOptions {
  /** How many parties end a round: a whole number, at least 1. All parties of a round must give the same number. */
  parties: number
  /** The longest wait in milliseconds. Without it, or with `Infinity`, there is no limit. 0 is invalid. */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. */
  signal?: AbortSignal
}

/** The largest number of parties. A longer list of arrivals would block the server for too long when a round ends. */
const MOST_PARTIES = 10_000

export function awaitArguments(
  name: string,
  options: unknown,
  others: readonly unknown[],
): BarrierAwaitOptions {
  assertNoMore(others)
  const known = ['parties', 'waitMs', 'signal']
  const given = optionsOf(options, 'The options of await()', known) as BarrierAwaitOptions
  const { parties, waitMs, signal } = given
  if (!Number.isSafeInteger(parties) || parties < 1 || parties > MOST_PARTIES) {
    throw new InvalidArgumentError(
      `Barrier ${show(name)}: \`parties\` must be a whole number from 1 to ${MOST_PARTIES}; got ${show(parties)}.`,
      name,
    )
  }
  assertSignal(signal)
  if (waitMs !== undefined) waitMsOf(waitMs, 'To look without waiting, use inspect().')
  return given
}
