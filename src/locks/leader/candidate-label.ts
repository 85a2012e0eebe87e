import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/**
 * The largest number of characters of a label. The label is part of the owner id, which the server
 * stores in the queue and sends in messages.
 */
const LONGEST_LABEL = 200

/** @throws `InvalidArgumentError` for a label that cannot be part of an owner id */
export function assertLabel(label: unknown): asserts label is string {
  const isText = typeof label === 'string' && label !== '' && label.length <= LONGEST_LABEL
  // An unpaired surrogate has no UTF-8 form, so the server would store a different label.
  if (isText && Buffer.from(label).toString() === label) return
  throw new InvalidArgumentError(
    `The \`label\` of a candidate must be text of 1 to ${LONGEST_LABEL} characters; got ${show(label)}. ` +
      'The default is the `label` of the client.',
  )
}
