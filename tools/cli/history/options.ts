import { InvalidArgumentError } from '../../../src/index.ts'
import { HISTORY_KEY } from '../../history/entry.ts'
import { readWhere, WHERE_OPTIONS, WHERE_USAGE, type Where } from '../../servers/where.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'

const OPTIONS = {
  ...WHERE_OPTIONS,
  'key-prefix': { type: 'string', default: '' },
  'history-key': { type: 'string', default: HISTORY_KEY },
  last: { type: 'string', short: 'n' },
  since: { type: 'string' },
  follow: { type: 'boolean', short: 'f', default: false },
  json: { type: 'boolean', default: false },
} as const

export const USAGE = `Usage: npx holdfast history [name] [options] [url…]

Lists past holds of a lock, or of all locks: owners, times, durations, waits, and losses with their
reason. It reads the history of services that use recordHistory(). The newest entry is last.

History:
${WHERE_USAGE}
  --history-key <key>        the key of the stream (holdfast_history)
  --key-prefix <text>        the keyPrefix of the clients: names are given and printed without it

Entries:
  -n, --last <n>             how many of the newest entries (50; all with --since, 10 with --follow)
  --since <time>             entries since: 90s, 15m, 2h, 3d, or a time like 2026-05-01T12:00:00Z
  -f, --follow               continue with new entries, until Ctrl-C
  --json                     one line of JSON for each

Exit codes: 0 entries were listed, 1 there are no entries, 2 wrong usage, 3 Redis did not answer.
`

export interface HistoryCommandOptions {
  readonly where: Where
  readonly name: string | undefined
  readonly keyPrefix: string
  readonly historyKey: string
  readonly last: number | undefined
  readonly sinceMs: number | undefined
  readonly follow: boolean
  readonly json: boolean
}

/** @throws `InvalidArgumentError` for invalid options */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): HistoryCommandOptions {
  const { values, positionals } = readArguments(args, OPTIONS)
  const [first, ...others] = positionals
  const hasName = first !== undefined && !/^rediss?:\/\//.test(first)
  const sinceMs = values.since === undefined ? undefined : readTime(values.since)
  const { follow } = values
  const usual = follow ? 10 : sinceMs === undefined ? 50 : undefined
  return {
    where: readWhere(values, hasName ? others : positionals, env),
    name: hasName ? first : undefined,
    keyPrefix: values['key-prefix'],
    historyKey: values['history-key'],
    last: values.last === undefined ? usual : wholeNumber(values.last, '--last', 1),
    sinceMs,
    follow,
    json: values.json,
  }
}

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a time, or a duration before now such as `15m`. Returns milliseconds since 1970. */
function readTime(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) {
    return Date.now() - Number(count) * (UNITS_MS[unit] as number)
  }
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new InvalidArgumentError(
    `--since must be like 90s, 15m, 2h or 3d, or a time like 2026-05-01T12:00:00Z; got ${JSON.stringify(text)}.`,
  )
}
