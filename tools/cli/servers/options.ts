import type { Inspection } from '../../inspection/inspection.ts'
import { openInspection } from '../../inspection/redis/redis-inspection.ts'
import { readWhere, WHERE_OPTIONS } from '../../servers/where.ts'
import { wholeNumber } from '../command/arguments.ts'

export { isUrl, WHERE_USAGE } from '../../servers/where.ts'

/** The options that all commands in `locks/` share. */
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
  readonly keyPrefix: string
  readonly json: boolean
  /** Returns an inspection of the servers that the user named. */
  open(): Inspection
}

/** @throws `InvalidArgumentError` for an invalid option. The message never contains a password */
export function readCommonOptions(
  values: Parameters<typeof readWhere>[0] & {
    'key-prefix': string
    'timeout-ms': string
    json: boolean
  },
  urls: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ReadOptions {
  const where = readWhere(values, urls, env)
  const timeoutMs = wholeNumber(values['timeout-ms'], '--timeout-ms', 1)
  return {
    keyPrefix: values['key-prefix'],
    json: values.json,
    open: () => openInspection(where, { timeoutMs }),
  }
}
