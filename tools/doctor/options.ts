import { InvalidArgumentError } from '../../src/index.ts'
import { oneOf, readArguments, wholeNumber } from '../cli/command/arguments.ts'
import { readWhere, WHERE_OPTIONS, WHERE_USAGE, type Where } from '../servers/where.ts'
import { codes } from './checks/all.ts'
import type { ClientTerms } from './facts/facts.ts'
import type { Budget } from './facts/read-server.ts'

const OPTIONS = {
  ...WHERE_OPTIONS,
  'key-prefix': { type: 'string', default: '' },
  'lease-ms': { type: 'string', default: '30000' },
  durability: { type: 'string', default: '0' },
  'timeout-ms': { type: 'string', default: '5000' },
  'scan-keys': { type: 'string', default: '10000' },
  'fail-on': { type: 'string', default: 'warning' },
  ignore: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
} as const

export const USAGE = `Usage: npx holdfast doctor [options] [url…]

Checks if the servers are fit for locks, and lists each problem with its fix.

Servers:
${WHERE_USAGE}
Locks:
  --key-prefix <text>        the keyPrefix of the clients
  --lease-ms <ms>            the leaseMs of the clients (30000)
  --durability <n|all>       how many replicas each acquisition waits for (0)

Requests:
  --timeout-ms <ms>          longest time for all requests to one server (5000)
  --scan-keys <n>            how many keys of each server to check, for at most a second (10000)

Output:
  --json                     the report as JSON
  --fail-on <error|warning>  exit with 1 from this level up (warning)
  --ignore <code,…>          omit these findings

Exit codes: 0 nothing to fix, 1 findings, 2 wrong usage, 3 some servers could not be checked.
`

export interface DoctorOptions {
  readonly where: Where
  readonly terms: ClientTerms
  readonly budget: Budget
  readonly json: boolean
  readonly failOn: 'error' | 'warning'
  readonly ignored: ReadonlySet<string>
}

/** @throws `InvalidArgumentError` for invalid options */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): DoctorOptions {
  const { values, positionals } = readArguments(args, OPTIONS)
  const leaseMs = wholeNumber(values['lease-ms'], '--lease-ms', 10)
  const { durability } = values
  const ignored = (values.ignore ?? []).flatMap((one) => one.split(','))
  const unknown = ignored.find((code) => !codes.has(code))
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `--ignore takes codes of findings; got ${JSON.stringify(unknown)}. There are: ${[...codes.keys()].join(', ')}.`,
    )
  }
  const where = readWhere(values, positionals, env)
  if (where.kind === 'masters' && durability !== '0') {
    throw new InvalidArgumentError(
      `--durability cannot be combined with several masters; got ${JSON.stringify(durability)}. Leave it out: a majority of them has each lock.`,
    )
  }
  return {
    where,
    terms: {
      leaseMs,
      longestLeaseMs: 2 * leaseMs,
      commandTimeoutMs: 2_000,
      outageMs: 5_000,
      keyPrefix: values['key-prefix'],
      durability: durability === 'all' ? durability : wholeNumber(durability, '--durability', 0),
    },
    budget: {
      timeoutMs: wholeNumber(values['timeout-ms'], '--timeout-ms', 1),
      scanKeys: wholeNumber(values['scan-keys'], '--scan-keys', 0),
    },
    json: values.json,
    failOn: oneOf(values['fail-on'], '--fail-on', ['error', 'warning']),
    ignored: new Set(ignored),
  }
}
