import { parseArgs } from 'node:util'
import type { LockRow } from '../../deployment/rows.ts'
import { WHERE_USAGE } from '../../servers/where.ts'
import { parsed, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT } from '../command/command.ts'
import { counted } from '../text/words.ts'
import { byWeight, lockTable, nameOf } from './lock-table.ts'
import { LOOK_OPTIONS, LOOK_USAGE, patternOf, readLooking } from './options.ts'
import { costOf, withDeployment } from './with-deployment.ts'

const OPTIONS = {
  ...LOOK_OPTIONS,
  pattern: { type: 'string' },
  held: { type: 'boolean', default: false },
  contended: { type: 'boolean', default: false },
  limit: { type: 'string' },
} as const

const USAGE = `Usage: npx holdfast list [options] [url…]

Lists the locks that there are: which are held, by whom, for how long, and who waits.

Where the servers are:
${WHERE_USAGE}
What to list:
  --pattern <pattern>        names that match, as with SCAN: 'order:*'
  --held                     locks that somebody has; no permits and latches
  --contended                those that somebody waits for
  --limit <n>                no more than so many; 0 for all (100 in a table, all with --json)
${LOOK_USAGE}
What to do with it:
  --json                     a line of JSON for each, as they are found

Exit codes: 0 looked, 2 called wrongly, 3 a server could not be asked.
`

/** In a table for people. */
const MOST = 100

/** `npx holdfast list`. */
export const list: Command = {
  name: 'list',
  summary: 'which locks there are: held by whom, for how long, and who waits',
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = parsed(() =>
      parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true }),
    )
    const looking = readLooking(values, positionals, terminal.env)
    const { keyPrefix, json } = looking
    const pattern = patternOf(keyPrefix, values.pattern)
    const given = values.limit === undefined ? undefined : wholeNumber(values.limit, '--limit', 0)
    const most = (given ?? (json ? 0 : MOST)) || Infinity
    const isWanted = ({ state, waiting }: LockRow) =>
      (!values.held || state !== 'free') && (!values.contended || waiting > 0)
    return withDeployment(looking, terminal, async (deployment) => {
      const rows: LockRow[] = []
      let [found, shown] = [0, 0]
      const wanted = { heldOnly: values.held, ...(pattern !== undefined && { pattern }) }
      for await (const some of deployment.scan(wanted)) {
        for (const row of some.filter(isWanted)) {
          found++
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
      }
      const { address, cost } = deployment
      terminal.err(`${counted(shown, 'lock')} of ${address}: ${costOf(cost)}\n`)
      return EXIT.ok
    })
  },
}
