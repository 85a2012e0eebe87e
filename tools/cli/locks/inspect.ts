import { setTimeout as pause } from 'node:timers/promises'
import type { Inspection, LockDetail } from '../../inspection/inspection.ts'
import { readsOf } from '../../inspection/renewals.ts'
import { toFree } from '../../inspection/to-free.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT } from '../command/command.ts'
import {
  LOOK_OPTIONS,
  LOOK_USAGE,
  type ReadOptions,
  readCommonOptions,
  WHERE_USAGE,
} from '../servers/options.ts'
import { whereWords } from '../servers/where-words.ts'
import { costOf, withInspection } from '../servers/with-inspection.ts'
import { escaped } from '../text/words.ts'
import { detailText, type Inspected } from './detail-text.ts'
import { nameOf } from './lock-table.ts'
import { literally, readName, splitName } from './options.ts'

const OPTIONS = { ...LOOK_OPTIONS, 'look-ms': { type: 'string', default: '1000' } } as const

const USAGE = `Usage: npx holdfast inspect [options] <name> [url…]
       npx holdfast inspect [options] [url…] -- <name>

Shows everything about one lock: its holders, its waiters, how long they hold or wait, and if the lease is renewed.
It also shows how to free the lock. A name after -- may begin with a dash or look like a URL.

Servers:
${WHERE_USAGE}
Requests:
  --look-ms <ms>             how long to watch if a lease is renewed; 0 checks once (1000). A watchdog
                             renews after a third of a lease: 10000 is enough for a lease of 30 s
${LOOK_USAGE}
Output:
  --json                     one line of JSON

Exit codes: 0 the lock exists, 1 no lock has this name, 2 wrong usage, 3 the server could not be reached.
`

/** The time limit of the search for similar names, in milliseconds. */
const SEARCH_MS = 2_000
const MOST_NAMES = 3

export const inspect: Command = {
  name: 'inspect',
  summary: 'show all of one lock: its holders, its queue, and how to free it',
  usage: USAGE,
  async run(args, terminal) {
    const { name: given, rest } = splitName('inspect', args)
    const { values, positionals } = readArguments(rest, OPTIONS)
    const [name, urls] = readName('inspect', given, positionals)
    const looking = readCommonOptions(values, urls, terminal.env)
    const readMs = wholeNumber(values['look-ms'], '--look-ms', 0)
    return withInspection(looking, terminal, async (inspection) => {
      const inspected = await readDetail(
        inspection,
        name,
        readMs,
        looking,
        whereWords(values, urls),
      )
      if (inspected === null) {
        const others = await alike(inspection, name, looking)
        terminal.err(`There is no lock named ${escaped(name)} at ${inspection.address}.\n`)
        if (others.length > 0) terminal.err(`There is: ${others.map(escaped).join(', ')}\n`)
        return EXIT.findings
      }
      const width = terminal.isTerminal ? terminal.columns : Infinity
      terminal.out(
        looking.json
          ? `${JSON.stringify(inspected)}\n`
          : detailText(inspected, inspection.address, width),
      )
      terminal.err(`${costOf(inspection.cost)}\n`)
      return EXIT.ok
    })
  },
}

async function readDetail(
  inspection: Inspection,
  name: string,
  readMs: number,
  { keyPrefix }: ReadOptions,
  options: string,
): Promise<Inspected | null> {
  const first = await inspection.inspect(keyPrefix + name, { findWaiters: true })
  if (first === null) return null
  const startedAt = performance.now()
  let detail: LockDetail = first
  let looks = readsOf(first, first, 0)
  while (
    looks.some(({ renewal }) => renewal !== 'renewed') &&
    performance.now() - startedAt < readMs
  ) {
    await pause(Math.min(250, readMs))
    // Computes `elapsedMs` before the request. A slow answer would lengthen `elapsedMs`, and the
    // lease could then seem renewed.
    const elapsedMs = performance.now() - startedAt
    const next = await inspection.inspect(keyPrefix + name)
    if (next === null) break // The lock no longer exists, so the last detail is shown.
    looks = readsOf(first, next, elapsedMs)
    detail = next
  }
  const renewalOf = (owner: string) =>
    looks.find((one) => one.owner === owner)?.renewal ?? 'unknown'
  const { holders, ...others } = detail
  return {
    name,
    ...others,
    holders: holders.map((holder) => ({ ...holder, renewal: renewalOf(holder.owner) })),
    toFree: toFree(detail, { name, options, renewalOf }),
  }
}

/** Finds locks whose names contain the given name, because users often forget the `keyPrefix`. */
async function alike(
  inspection: Inspection,
  name: string,
  { keyPrefix }: ReadOptions,
): Promise<string[]> {
  const found: string[] = []
  const signal = AbortSignal.timeout(SEARCH_MS)
  try {
    for await (const rows of inspection.list({ pattern: `*${literally(name)}*`, signal })) {
      for (const { key } of rows)
        found.push(key.startsWith(keyPrefix) ? nameOf(key, keyPrefix) : key)
      if (found.length >= MOST_NAMES) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return found.slice(0, MOST_NAMES)
}
