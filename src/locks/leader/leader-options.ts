import { assertBoolean, assertSignal, optionsOf, wholeMs } from '../../options/input.ts'
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
   * How long the lease is renewed, in milliseconds, after the term was asked to end: by `resign()`, by the abort of
   * `signal`, or by `close({ drainMs })`. If the function goes on for longer the term is lost, and the next candidate
   * leads when the lease has ended. Without a limit a function that never ends keeps all others waiting.
   *
   * @default Infinity
   */
  maxDrainMs?: number
  /**
   * Resigns when another client or an operator asks for that. They do it with `requestRelease()` of the fair lock of
   * that name, or with `npx holdfast release --ask`.
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

/** The options of `lead`, checked and complete. */
export interface Leading {
  readonly signal: AbortSignal | undefined
  readonly again: boolean
  readonly maxDrainMs: number
  readonly resignOnRequest: boolean
}

export function leadOptions(options: unknown): Leading {
  const known = ['signal', 'again', 'maxDrainMs', 'resignOnRequest']
  const given = optionsOf(options, 'The options of lead()', known) as LeadOptions
  const { signal, again = false, maxDrainMs = Infinity, resignOnRequest = false } = given
  assertSignal(signal)
  assertBoolean(again, '`again`')
  if (maxDrainMs !== Infinity) wholeMs(maxDrainMs, '`maxDrainMs`')
  assertBoolean(resignOnRequest, '`resignOnRequest`')
  return { signal, again, maxDrainMs, resignOnRequest }
}
