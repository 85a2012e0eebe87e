import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/** The label is part of the owner name, which the server repeats in its queue and its messages. */
const LONGEST_LABEL = 200

/** @throws `InvalidArgumentError` for a label that cannot be part of a name */
export function assertLabel(label: unknown): asserts label is string {
  const isText = typeof label === 'string' && label !== '' && label.length <= LONGEST_LABEL
  // Half of a surrogate pair is not valid UTF-8.
  if (isText && Buffer.from(label).toString() === label) return
  throw new InvalidArgumentError(
    `The \`label\` of a candidate must be text of 1 to ${LONGEST_LABEL} characters; got ${show(label)}. ` +
      'It is the `label` of the client unless one is given.',
  )
}

/** The end of the owner name of a candidate, after its number. */
export function labelSuffix(label: string): string {
  return `~${encodeURIComponent(label)}`
}

/** The label in the owner name of a candidate; null for other owners. */
export function labelIn(wireOwner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(wireOwner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}
