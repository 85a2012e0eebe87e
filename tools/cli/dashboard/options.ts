import { InvalidArgumentError } from '../../../src/index.ts'
import { HISTORY_KEY } from '../../history/entry.ts'
import { readWhere, WHERE_OPTIONS, WHERE_USAGE, type Where } from '../../servers/where.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'

const OPTIONS = {
  ...WHERE_OPTIONS,
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '4140' },
  release: { type: 'boolean', default: false },
  'history-key': { type: 'string', default: HISTORY_KEY },
} as const

export const USAGE = `Usage: npx holdfast dashboard [options] [url…]

Serves a page that shows the locks, their holders and their waiters, and how long they hold or wait. It runs until it
is interrupted. While no browser shows the page, it sends no requests to Redis.

Servers:
${WHERE_USAGE}
Page:
  --port <n>                 on this port (4140); 0 takes any free port
  --host <address>           on this address (127.0.0.1). The page is not encrypted, so keep the default
                             and use a tunnel
  --release                  allows release by force on the page, after a confirmation
  --history-key <key>        the stream that recordHistory writes to (holdfast_history)

It prints an address with a token, which every viewer needs. The token is new each time.

Exit codes: 0 interrupted, 2 wrong usage, 3 the port is not available.
`

export interface ServeOptions {
  readonly where: Where
  readonly host: string
  readonly port: number
  readonly release: boolean
  readonly historyKey: string
}

/** @throws `InvalidArgumentError` for invalid options */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServeOptions {
  const { values, positionals } = readArguments(args, OPTIONS)
  const port = wholeNumber(values.port, '--port', 0)
  if (port > 65_535) {
    throw new InvalidArgumentError(
      `--port must be at most 65535; got ${JSON.stringify(values.port)}.`,
    )
  }
  return {
    where: readWhere(values, positionals, env),
    host: values.host,
    port,
    release: values.release,
    historyKey: values['history-key'],
  }
}
