import { assertBoolean, assertSignal, optionsOf } from '../../options/input.ts'
import { assertLabel } from './candidate-label.ts'

/** What `getLeaderElection` takes beside the name. */
export interface LeaderElectionOptions {
  /**
   * What others see of this candidate: in `leader()`, `inspect()` and `changed`. Text of 1 to 200 characters;
   * several candidates may have the same.
   *
   * @default the `label` of the client
   */
  label?: string
}

/** What `lead` takes beside the function. */
export interface LeadOptions {
  /**
   * Ends the candidacy: while it waits `lead` rejects with `signal.reason`; while it leads the signal of the term
   * aborts with that reason, and the next candidate leads when the function has ended.
   */
  signal?: AbortSignal
  /**
   * Whether to stand again, as a new candidate, after a term that was lost and a wait that an outage ended, also one
   * in which Redis refuses: it starts, is full or fails over.
   *
   * @default false
   */
  again?: boolean
  /**
   * Whether to resign when another client or an operator asks for that, by `requestRelease()` of the fair lock of that
   * name or by `npx holdfast release --ask`.
   *
   * @default false
   */
  resignOnRequest?: boolean
}

/** @returns the label of the candidate */
export function electionLabel(options: unknown, ofClient: string): string {
  const given = optionsOf(options, 'The options of getLeaderElection()', ['label'])
  const { label = ofClient } = given as { label?: unknown }
  assertLabel(label)
  return label
}

export function leadOptions(options: unknown): {
  signal: AbortSignal | undefined
  again: boolean
  resignOnRequest: boolean
} {
  const known = ['signal', 'again', 'resignOnRequest']
  const given = optionsOf(options, 'The options of lead()', known) as LeadOptions
  const { signal, again = false, resignOnRequest = false } = given
  assertSignal(signal)
  assertBoolean(again, '`again`')
  assertBoolean(resignOnRequest, '`resignOnRequest`')
  return { signal, again, resignOnRequest }
}
