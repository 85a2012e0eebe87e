import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/** The advice in errors for invalid names. */
export const ESCAPE = 'Use escapeName() for the parts of a name that come from outside.'

/**
 * The rule of one server for the names of locks. Returns the reason why the server refuses a name;
 * undefined if the server accepts the name. In an error, the reason follows the name.
 *
 * @param thing the word for the lock in errors, such as `semaphore`
 */
export type NameRule = (rawName: string, thing: string) => string | undefined

/**
 * Returns the raw name of a lock: its name on the server, with the key prefix.
 *
 * @param rule the rule of the server. Undefined if the server accepts every name
 * @param thing the word for the lock in errors, such as `semaphore`
 */
export function rawNameOf(
  name: unknown,
  keyPrefix: string,
  rule: NameRule | undefined,
  thing = 'lock',
): string {
  if (typeof name !== 'string' || name === '') {
    throw new InvalidArgumentError(
      `The name of a ${thing} must be a non-empty string; got ${show(name)}.`,
    )
  }
  const rawName = keyPrefix + name
  const why = rule?.(rawName, thing) ?? whyNot(rawName)
  if (why === undefined) return rawName
  throw new InvalidArgumentError(`The ${thing} name ${show(rawName)} ${why}`, name)
}

function whyNot(rawName: string): string | undefined {
  if (Buffer.from(rawName).toString() === rawName) return undefined
  return `has half of a surrogate pair. In UTF-8 it would be another name. ${ESCAPE}`
}
