import { parseArgs } from 'node:util'
import { InvalidArgumentError } from '../../../index.ts'
import { readWhere, WHERE_OPTIONS, WHERE_USAGE, type Where } from '../../servers/where.ts'
import { parsed, wholeNumber } from '../command/arguments.ts'

const OPTIONS = {
  ...WHERE_OPTIONS,
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '4140' },
  release: { type: 'boolean', default: false },
  'history-key': { type: 'string', default: 'holdfast_history' },
} as const

export const USAGE = `Usage: npx holdfast dashboard [options] [url…]

Serves a page that shows who has which lock, who waits, and since when. It goes on until it is interrupted, and asks
Redis for nothing while nobody looks.

Where the servers are:
${WHERE_USAGE}
How to serve it:
  --port <n>                 on this port (4140); 0 is any that is free
  --host <address>           on this address (127.0.0.1). The page is not encrypted, so leave it there, and
                             lead to it by a tunnel
  --release                  locks can be released by force there, after a confirmation
  --history-key <key>        the stream that recordHistory writes to (holdfast_history)

The address that it prints has a token, without which nobody is let in. It is another one each time.

Exit codes: 0 interrupted, 2 called wrongly, 3 the port could not be had.
`

export interface ServeOptions {
  readonly where: Where
  readonly host: string
  readonly port: number
  readonly release: boolean
  readonly historyKey: string
}

/** @throws `InvalidArgumentError` for what makes no sense, with what was given */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServeOptions {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true }),
  )
  const port = wholeNumber(values.port, '--port', 0)
  if (port > 65_535) {
    throw new InvalidArgumentError(
      `--port must be 65535 at most; got ${JSON.stringify(values.port)}.`,
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
