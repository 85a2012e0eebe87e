import { InvalidArgumentError } from '../../../src/index.ts'
import { isUrl } from '../servers/options.ts'

/**
 * Splits the arguments at `--`. The argument after `--` is the name of the lock, even if it looks
 * like an option. Without `--`, the name is undefined.
 */
export function splitName(command: string, args: readonly string[]): NameOrRest {
  const at = args.indexOf('--')
  if (at === -1) return { name: undefined, rest: [...args] }
  const [name, ...others] = args.slice(at + 1)
  if (others.length > 0) {
    throw new InvalidArgumentError(
      `${command} takes one name after --; got ${others.length} more: ${others.map((one) => JSON.stringify(one)).join(' ')}.`,
    )
  }
  return { name: nameOrThrow(command, name), rest: args.slice(0, at) }
}

interface NameOrRest {
  readonly name: string | undefined
  readonly rest: string[]
}

/**
 * Returns the name of the lock and the URLs. If `given` is undefined, the first of `positionals` is
 * the name.
 */
export function readName(
  command: string,
  given: string | undefined,
  positionals: readonly string[],
): [string, string[]] {
  if (given !== undefined) return [given, [...positionals]]
  const [name, ...urls] = positionals
  if (name !== undefined && isUrl(name)) {
    throw new InvalidArgumentError(
      `${command} needs the name of a lock before the URL; got ${JSON.stringify(name)}. If that is the name, write it after --: ${command} … -- <name>`,
    )
  }
  return [nameOrThrow(command, name), urls]
}

function nameOrThrow(command: string, name: string | undefined): string {
  if (name !== undefined && name !== '') return name
  throw new InvalidArgumentError(
    `${command} needs the name of a lock; got ${JSON.stringify(name ?? '')}.`,
  )
}

/**
 * Returns a pattern of keys: the `keyPrefix`, and then the pattern of names. Undefined if the user
 * gave no prefix and no pattern.
 */
export function patternOf(keyPrefix: string, pattern: string | undefined): string | undefined {
  if (keyPrefix === '') return pattern
  return literally(keyPrefix) + (pattern ?? '*')
}

/** Returns the pattern of `SCAN` that matches only this text. */
export const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, '\\$&')
