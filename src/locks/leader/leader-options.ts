import { abortSignal, boolean, orNoLimit, unchecked, wholeMs } from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'
import { assertLabel } from './candidate-label.ts'

/** The options of `getLeaderElection`. */
export interface LeaderElectionOptions {
  /**
   * The name of this candidate that others see in `leader()`, `inspect()` and `changed`. Text of 1 to 200 characters.
   * Several candidates may have the same label.
   *
   * @default the `label` of the client
   */
  label?: string
}

/** The options of `lead`. */
export interface LeadOptions {
  /**
   * An abort ends the candidacy. During the wait, `lead` rejects with `signal.reason`. During the term, the signal of
   * the term aborts with the same reason, and the next candidate leads when the function has ended.
   */
  signal?: AbortSignal
  /**
   * If true, the candidate waits to lead again after it lost a term, and after an outage ended its wait. It also waits
   * again after a `NotDurableError`, and if Redis refuses requests because it starts, is full or fails over.
   *
   * @default false
   */
  again?: boolean
  /**
   * For how long the watchdog renews the lease after the signal of the term has aborted, in milliseconds. The signal
   * aborts after `resign()`, the abort of `signal`, or `close({ drainMs })`. If the function runs for longer, the term
   * is lost, and the next candidate leads when the lease has ended. Without a limit, a function that never ends keeps
   * all other candidates waiting.
   *
   * @default Infinity
   */
  maxDrainMs?: number
  /**
   * If true, the leader resigns when someone requests its release: with `requestRelease()` of the fair lock with the
   * same name, or with `npx holdfast release --ask`.
   *
   * @default false
   */
  resignOnRequest?: boolean
}

const readElection = shape('The options of getLeaderElection()', { label: unchecked })

/** Returns the label in the options; the label of the client if the options have no label. */
export function electionLabel(options: unknown, ofClient: string): string {
  const { label = ofClient } = readElection(options)
  assertLabel(label)
  return label
}

export const leadOptions = shape('The options of lead()', {
  signal: abortSignal,
  again: or(boolean, false),
  maxDrainMs: or(orNoLimit(wholeMs), Infinity),
  resignOnRequest: or(boolean, false),
})

export type Leading = ReturnType<typeof leadOptions>
