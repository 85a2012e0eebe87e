import { findLeaks } from '../../inspection/find-leaks.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT } from '../command/command.ts'
import { LOOK_OPTIONS, LOOK_USAGE, readCommonOptions, WHERE_USAGE } from '../servers/options.ts'
import { whereWords } from '../servers/where-words.ts'
import { costOf, withInspection } from '../servers/with-inspection.ts'
import { counted, duration } from '../text/words.ts'
import { leakText, reportOf } from './leak-text.ts'
import { nameOf } from './lock-table.ts'
import { patternOf } from './options.ts'

const OPTIONS = {
  ...LOOK_OPTIONS,
  pattern: { type: 'string' },
  'lease-ms': { type: 'string', default: '30000' },
} as const

const USAGE = `Usage: npx holdfast leaks [options] [url…]

Finds leaks: keys without an expiry, holders that no process renews, and queues of free locks. It checks some
locks a second time, after a third of a lease.

Servers:
${WHERE_USAGE}
Locks:
  --pattern <pattern>        only locks whose names match, as with SCAN: 'order:*'. Then leaks does not look for
                             other keys without an expiry
  --lease-ms <ms>            the leaseMs of the clients (30000)
${LOOK_USAGE}
Output:
  --json                     one line of JSON for each leak

Exit codes: 0 no leaks, 1 leaks were found, 2 wrong usage, 3 a server could not be reached: leaks may be missing.
`

const WIDEST = 100

export const leaks: Command = {
  name: 'leaks',
  summary: 'find leaked locks and keys, and what to do about them',
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, OPTIONS)
    const looking = readCommonOptions(values, positionals, terminal.env)
    const { keyPrefix, json } = looking
    const leaseMs = wholeNumber(values['lease-ms'], '--lease-ms', 10)
    const pattern = patternOf(keyPrefix, values.pattern)
    const options = whereWords(values, positionals)
    return withInspection(looking, terminal, async (inspection) => {
      const found = findLeaks(inspection, {
        leaseMs,
        ...(pattern !== undefined && { pattern }),
        onPause: (waitMs, locks) =>
          terminal.err(`Checking ${counted(locks, 'lock')} again in ${duration(waitMs)}.\n`),
      })
      let count = 0
      let next = await found.next()
      for (; !next.done; next = await found.next()) {
        const { key, lock } = next.value
        const report = reportOf(next.value, lock === null ? key : nameOf(key, keyPrefix), options)
        const text = () => `${leakText(report, Math.min(terminal.columns, WIDEST))}\n\n`
        terminal.out(json ? `${JSON.stringify(report)}\n` : text())
        count++
      }
      if (next.value > 0) {
        terminal.err(
          `${counted(next.value, 'holder')} with a longer lease than ${leaseMs} ms could not be checked: set --lease-ms.\n`,
        )
      }
      terminal.err(
        `${counted(count, 'leak')} at ${inspection.address}: ${costOf(inspection.cost)}\n`,
      )
      if (inspection.isIncomplete) return EXIT.failed
      return count > 0 ? EXIT.findings : EXIT.ok
    })
  },
}
