import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

const ESCAPE = 'Use escapeName() for the parts of a name that come from outside.'

/**
 * Returns the raw name of a lock: its key in Redis. The names of the lock's other keys contain the
 * raw name.
 *
 * @param clustered true if all keys of the lock must be in one cluster slot
 * @param thing the word for the lock in errors, such as `semaphore`
 */
export function rawNameOf(
  name: unknown,
  keyPrefix: string,
  clustered: boolean,
  thing = 'lock',
): string {
  if (typeof name !== 'string' || name === '') {
    throw new InvalidArgumentError(
      `The name of a ${thing} must be a non-empty string; got ${show(name)}.`,
    )
  }
  const rawName = keyPrefix + name
  const open = rawName.indexOf('{')
  if (open !== -1 && rawName.indexOf('}', open) <= open + 1) {
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} has a broken {tag}. After "{" there must be a tag and "}"; ` +
        `otherwise the keys of the ${thing} would not share a cluster slot. ${ESCAPE}`,
      name,
    )
  }
  if (/^\{[^{]*\}$/.test(rawName)) {
    const inner = rawName.slice(1, -1)
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} is entirely in braces. This name and the name ` +
        `${show(inner)} would share some keys, so an acquisition of one name would also count for the other name. ` +
        `Use ${show(inner)}, which has the same cluster slot, or add text before or after the {tag}.`,
      name,
    )
  }
  if (clustered && open === -1 && rawName.includes('}')) {
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} has "}" without "{". In a cluster the keys of this ${thing} would be ` +
        'in two slots. Some of them are named "…:{name}", and this tag would end at the "}" in the name. Put a {tag} ' +
        `before this "}", or use another name. ${ESCAPE}`,
      name,
    )
  }
  if (Buffer.from(rawName).toString() !== rawName) {
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} has half of a surrogate pair. In UTF-8 it would be another name. ${ESCAPE}`,
      name,
    )
  }
  return rawName
}
