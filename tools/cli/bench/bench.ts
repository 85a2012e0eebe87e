import { randomBytes } from 'node:crypto'
import { InvalidArgumentError } from '../../../src/index.ts'
import { addressOf } from '../../servers/endpoint.ts'
import { clientOf } from '../../servers/redis-of.ts'
import { readWhere, WHERE_OPTIONS, WHERE_USAGE, type Where } from '../../servers/where.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT } from '../command/command.ts'
import { type Measured, measure } from './measures.ts'
import { newReport, textOf } from './report.ts'

const OPTIONS = {
  ...WHERE_OPTIONS,
  'key-prefix': { type: 'string', default: '' },
  'lease-ms': { type: 'string', default: '30000' },
  seconds: { type: 'string', default: '5' },
  json: { type: 'boolean', default: false },
} as const

const USAGE = `Usage: npx holdfast bench [options] [url…]

Measures this Redis as a user of locks sees it: how long a lock, a renewal and a hand-off take from
this machine, one step after the other. It acquires its own locks, and releases them. Their keys also
expire. It does not touch other keys.

Servers:
${WHERE_USAGE}
Measurement:
  --seconds <n>              approximate total time of the measurement (5; at most 60)
  --lease-ms <ms>            the leaseMs of the clients, for the verdict (30000)
  --key-prefix <text>        the prefix of its keys, if the login may write only keys with a prefix
  --json                     the report as JSON

Exit codes: 0 renewals have enough time, 1 they do not, 2 wrong usage, 3 the measurement failed.
`

/**
 * If Redis does not answer, the command fails within seconds. The token counters of its locks
 * expire after one minute.
 */
const SETTINGS = { outageMs: 2_000, commandTimeoutMs: 1_000, counterTtlMs: 60_000 }

/** `npx holdfast bench`: measures how long locks take on this Redis. */
export const bench: Command = {
  name: 'bench',
  summary: 'measure how long a lock, a renewal and a hand-off take',
  usage: USAGE,
  async run(args, { env, out, err, interrupted }) {
    const { values, positionals } = readArguments(args, OPTIONS)
    const where = readWhere(values, positionals, env)
    const leaseMs = wholeNumber(values['lease-ms'], '--lease-ms', 10)
    const seconds = wholeNumber(values.seconds, '--seconds', 1)
    if (seconds > 60)
      throw new InvalidArgumentError(`--seconds must be at most 60; got ${seconds}.`)
    const signal = interrupted()
    const name = `holdfast_bench:${randomBytes(6).toString('hex')}`
    const client = { ...clientOf(where), ...SETTINGS, keyPrefix: values['key-prefix'] }
    const measured: Measured[] = []
    try {
      const terms = { client, name, seconds, signal }
      for await (const one of measure(terms)) measured.push(one)
    } catch (error) {
      err(`The measurement failed: ${(error as Error).message}\n`)
      return EXIT.failed
    }
    if (signal.aborted) return INTERRUPTED
    const report = newReport(measured, { address: addressesOf(where), leaseMs })
    out(values.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report))
    return report.verdict === 'good' ? EXIT.ok : EXIT.findings
  },
}

/** The exit code that shells use if SIGINT ends a program. */
const INTERRUPTED = 130

function addressesOf(where: Where): string {
  if (where.kind === 'sentinel') return `${where.masterName} by Sentinel`
  return where.servers.map(addressOf).join(', ')
}
