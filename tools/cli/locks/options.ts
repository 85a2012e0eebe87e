import { InvalidArgumentError } from '../../../src/index.ts'
import { readWhere, WHERE_OPTIONS, type Where } from '../../servers/where.ts'
import { wholeNumber } from '../command/arguments.ts'

/** The options of every command that looks at locks. */
export const LOOK_OPTIONS = {
  ...WHERE_OPTIONS,
  'key-prefix': { type: 'string', default: '' },
  'timeout-ms': { type: 'string', default: '5000' },
  json: { type: 'boolean', default: false },
} as const

export const LOOK_USAGE = `  --key-prefix <text>        the keyPrefix of the clients: names are given and printed without it
  --timeout-ms <ms>          longest time of each request to a server (5000)
`

/** The options of a command that looks at locks, with the values that the user gave. */
export interface ReadOptions {
  readonly where: Where
  readonly keyPrefix: string
  readonly timeoutMs: number
  readonly json: boolean
}

/** @throws `InvalidArgumentError` for invalid options, with the given value */
export function readCommonOptions(
  values: Parameters<typeof readWhere>[0] & {
    'key-prefix': string
    'timeout-ms': string
    json: boolean
  },
  urls: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ReadOptions {
  return {
    where: readWhere(values, urls, env),
    keyPrefix: values['key-prefix'],
    timeoutMs: wholeNumber(values['timeout-ms'], '--timeout-ms', 1),
    json: values.json,
  }
}

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

export const isUrl = (text: string): boolean => /^rediss?:\/\//.test(text)

/**
 * Returns a pattern of keys: the `keyPrefix`, and then the pattern of names. Undefined if there is
 * neither a prefix nor a pattern.
 */
export function patternOf(keyPrefix: string, pattern: string | undefined): string | undefined {
  if (keyPrefix === '') return pattern
  return literally(keyPrefix) + (pattern ?? '*')
}

/** Returns a pattern that matches only this text. */
export const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, '\\$&')
