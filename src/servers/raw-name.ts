import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

const ESCAPE = 'What comes from outside is made a part of a name by escapeName().'

/**
 * The raw name of a lock: what a place knows it by, and makes the names of all that belongs to it from.
 *
 * @param clustered whether they have to share a slot
 * @param thing what it is the name of
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
      `The ${thing} name ${show(rawName)} has a broken {tag}: after "{" there must be a tag and "}", ` +
        `or the keys of the ${thing} would not share a cluster slot. ${ESCAPE}`,
      name,
    )
  }
  if (/^\{[^{]*\}$/.test(rawName)) {
    const inner = rawName.slice(1, -1)
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} is wholly in braces: it would share its other keys with ` +
        `the name ${show(inner)}, so that each counts what belongs to the other. Use ${show(inner)}, which is ` +
        'in the same cluster slot, or write something before or after the {tag}.',
      name,
    )
  }
  if (clustered && open === -1 && rawName.includes('}')) {
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} has "}" without "{": in a cluster its keys would be in two slots, ` +
        'for the others are named "…:{name}", whose tag would end there. Put a {tag} before it, or ' +
        `take another name. ${ESCAPE}`,
      name,
    )
  }
  if (Buffer.from(rawName).toString() !== rawName) {
    throw new InvalidArgumentError(
      `The ${thing} name ${show(rawName)} has half of a surrogate pair; in UTF-8 it would be another name. ${ESCAPE}`,
      name,
    )
  }
  return rawName
}
