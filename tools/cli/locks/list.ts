import type { LockRow } from '../../inspection/inspection.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT } from '../command/command.ts'
import { LOOK_OPTIONS, LOOK_USAGE, readCommonOptions, WHERE_USAGE } from '../servers/options.ts'
import { costOf, withInspection } from '../servers/with-inspection.ts'
import { counted } from '../text/words.ts'
import { byWeight, isBusy, lockTable, nameOf } from './lock-table.ts'
import { patternOf } from './options.ts'

const OPTIONS = {
  ...LOOK_OPTIONS,
  pattern: { type: 'string' },
  all: { type: 'boolean', default: false },
  held: { type: 'boolean', default: false },
  contended: { type: 'boolean', default: false },
  limit: { type: 'string' },
} as const

const USAGE = `Usage: npx holdfast list [options] [url…]

Lists all locks, semaphores and other objects of Holdfast that are held or waited for: their holders, how long they
have held, and how many callers wait. A latch or a semaphore without leases that only Redisson has used
is not listed, because its key is a bare number. inspect shows such a latch or semaphore.
A job is also listed if its last run failed or has crashed, or if ticks were missed.

Servers:
${WHERE_USAGE}
Locks:
  --pattern <pattern>        names that match, as with SCAN: 'order:*'
  --all                      also free locks, as long as Redis has their last token, and all jobs
  --held                     held locks only, without semaphores and latches; finds them fastest
  --contended                only locks with waiters
  --limit <n>                at most this many; 0 for all (100 in a table, all with --json)
${LOOK_USAGE}
Output:
  --json                     one line of JSON for each lock, as soon as it is found

Exit codes: 0 done, 2 wrong usage, 3 a server could not be reached; locks of the other servers are listed.
`

/** The most rows in a table, unless the user gives `--limit`. */
const MOST = 100

export const list: Command = {
  name: 'list',
  summary: 'list the locks that are held or waited for, with their holders',
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, OPTIONS)
    const looking = readCommonOptions(values, positionals, terminal.env)
    const { keyPrefix, json } = looking
    const pattern = patternOf(keyPrefix, values.pattern)
    const given = values.limit === undefined ? undefined : wholeNumber(values.limit, '--limit', 0)
    const most = (given ?? (json ? 0 : MOST)) || Infinity
    const isWanted = (row: LockRow) =>
      (values.all || isBusy(row)) &&
      (!values.held || row.state !== 'free') &&
      (!values.contended || row.waiting > 0)
    return withInspection(looking, terminal, async (inspection) => {
      const rows: LockRow[] = []
      const wireVersions = new Set<number | null>()
      let [found, shown, free] = [0, 0, 0]
      const wanted = { heldOnly: values.held, ...(pattern !== undefined && { pattern }) }
      for await (const some of inspection.list(wanted)) {
        free += some.filter((row) => !isBusy(row)).length
        for (const row of some.filter(isWanted)) {
          found++
          for (const { process } of row.holders) {
            if (process !== null) wireVersions.add(process.wireVersion ?? null)
          }
          if (!json) rows.push(row)
          else if (shown < most) {
            shown++
            terminal.out(`${JSON.stringify({ name: nameOf(row.key, keyPrefix), ...row })}\n`)
          }
        }
        if (json && shown >= most) break
      }
      if (!json) {
        const first = rows.sort(byWeight).slice(0, most)
        shown = first.length
        const width = terminal.isTerminal ? terminal.columns : Infinity
        if (shown > 0) terminal.out(`${lockTable(first, keyPrefix, width).join('\n')}\n`)
        if (shown < found) {
          terminal.err(`${(found - shown).toLocaleString('en')} more; --limit 0 shows all.\n`)
        }
        if (free > 0 && !values.all) {
          terminal.err(`${free.toLocaleString('en')} free; --all shows them.\n`)
        }
      }
      const { address, cost } = inspection
      if (wireVersions.size > 1) {
        const all = [...wireVersions].map((one) => one ?? 'none').sort()
        terminal.err(
          `Holders have several versions of the wire format: ${all.join(', ')}. npx holdfast doctor shows if that is a problem.\n`,
        )
      }
      terminal.err(`${counted(shown, 'lock')} of ${address}: ${costOf(cost)}\n`)
      return inspection.isIncomplete ? EXIT.failed : EXIT.ok
    })
  },
}
