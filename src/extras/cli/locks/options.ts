import { InvalidArgumentError } from '../../../index.ts'
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
  --timeout-ms <ms>          each question to a server has so long (5000)
`

/** What is looked at, and how. */
export interface Looking {
  readonly where: Where
  readonly keyPrefix: string
  readonly timeoutMs: number
  readonly json: boolean
}

/** @throws `InvalidArgumentError` for what makes no sense, with what was given */
export function readLooking(
  values: Parameters<typeof readWhere>[0] & {
    'key-prefix': string
    'timeout-ms': string
    json: boolean
  },
  urls: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Looking {
  return {
    where: readWhere(values, urls, env),
    keyPrefix: values['key-prefix'],
    timeoutMs: wholeNumber(values['timeout-ms'], '--timeout-ms', 1),
    json: values.json,
  }
}

/** The lock that a command is about is its first argument; URLs come behind it. */
export function readName(command: string, positionals: readonly string[]): [string, string[]] {
  const [name, ...urls] = positionals
  if (name !== undefined && name !== '' && !isUrl(name)) return [name, urls]
  throw new InvalidArgumentError(
    `${command} needs the name of a lock before anything else; got ${JSON.stringify(name ?? '')}.`,
  )
}

export const isUrl = (text: string): boolean => /^rediss?:\/\//.test(text)

/** The pattern of keys that a pattern of names stands for. */
export function patternOf(keyPrefix: string, pattern: string | undefined): string | undefined {
  if (keyPrefix === '') return pattern
  return literally(keyPrefix) + (pattern ?? '*')
}

/** A pattern that only this text is found by. */
export const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, '\\$&')
