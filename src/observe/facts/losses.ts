import type { HoldFact, HoldOutcome } from '../../index.ts'

/** The outcomes of holds that were lost before their release. */
export const LOSSES = ['expired', 'gone', 'forced'] as const satisfies HoldOutcome[]

/** Returns how the hold was lost; undefined if the hold was not lost. */
export function lossOf({ outcome }: HoldFact): (typeof LOSSES)[number] | undefined {
  return LOSSES.find((loss) => loss === outcome)
}
