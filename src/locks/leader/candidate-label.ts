import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/** It is in the name of the owner, which the server repeats in its queue and its messages. */
const LONGEST_LABEL = 200

/** @throws `InvalidArgumentError` for a label that cannot be in a name */
export function assertLabel(label: unknown): asserts label is string {
  const isText = typeof label === 'string' && label !== '' && label.length <= LONGEST_LABEL
  // Half of a surrogate pair is no text in UTF-8.
  if (isText && Buffer.from(label).toString() === label) return
  throw new InvalidArgumentError(
    `The \`label\` of a candidate must be text of 1 to ${LONGEST_LABEL} characters; got ${show(label)}. ` +
      'It is the `label` of the client unless one is given.',
  )
}

/** What the name of a candidate has behind its number. */
export function labelSuffix(label: string): string {
  return `~${encodeURIComponent(label)}`
}

/** The label in the name of a candidate; null for an owner that is none. */
export function labelIn(wireOwner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(wireOwner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}
