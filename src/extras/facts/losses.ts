import type { HoldFact, HoldOutcome } from '../../index.ts'

/** Ends of a hold that came before its release. */
export const LOSSES = ['expired', 'gone', 'forced'] as const satisfies HoldOutcome[]

/** How a hold was lost; undefined for one that was not. */
export function lossOf({ outcome }: HoldFact): (typeof LOSSES)[number] | undefined {
  return LOSSES.find((loss) => loss === outcome)
}
