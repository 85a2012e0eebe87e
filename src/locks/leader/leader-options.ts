import { InvalidArgumentError, show } from '../../errors.ts'
import { assertKnown } from '../../options/input.ts'
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
}

/** @returns the label of the candidate */
export function electionLabel(options: unknown, ofClient: string): string {
  const { label = ofClient } = objectOf(options, ['label'], 'getLeaderElection') as {
    label?: unknown
  }
  assertLabel(label)
  return label
}

export function leadOptions(options: unknown): { signal: AbortSignal | undefined; again: boolean } {
  const { signal, again = false } = objectOf(options, ['signal', 'again'], 'lead') as LeadOptions
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError(`\`signal\` must be an AbortSignal; got ${show(signal)}.`)
  }
  if (typeof again !== 'boolean') {
    throw new InvalidArgumentError(`\`again\` must be true or false; got ${show(again)}.`)
  }
  return { signal, again }
}

function objectOf(options: unknown, known: readonly string[], of: string): object {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `The options of ${of}() must be an object; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), known)
  return options
}
