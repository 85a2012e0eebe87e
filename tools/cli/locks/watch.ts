import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT, type Terminal } from '../command/command.ts'
import {
  isUrl,
  LOOK_OPTIONS,
  LOOK_USAGE,
  readCommonOptions,
  WHERE_USAGE,
} from '../servers/options.ts'
import { withInspection } from '../servers/with-inspection.ts'
import { counted, escaped } from '../text/words.ts'
import { changeJson, changes, changeText } from './changes.ts'
import { follow, type View } from './follow.ts'
import { byWeight, lockTable } from './lock-table.ts'
import { patternOf } from './options.ts'

const OPTIONS = { ...LOOK_OPTIONS, 'interval-ms': { type: 'string', default: '1000' } } as const

const USAGE = `Usage: npx holdfast watch [pattern] [options] [url…]

Shows the locks that are held or waited for, live, until Ctrl-C; with a pattern, as with SCAN, only locks that
match. If the output is not a terminal, it prints a line for each change.

Servers:
${WHERE_USAGE}
Requests:
  --interval-ms <ms>         how often to check known locks (1000); it searches for new names every 5 s
${LOOK_USAGE}
Output:
  --json                     one line of JSON for each change

Exit codes: 0 ended by Ctrl-C, 2 wrong usage, 3 a server did not answer the first request.
`

export const watch: Command = {
  name: 'watch',
  summary: 'show the locks that are held or waited for, live',
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, OPTIONS)
    const [first] = positionals
    const hasPattern = first !== undefined && !isUrl(first)
    const urls = hasPattern ? positionals.slice(1) : positionals
    const looking = readCommonOptions(values, urls, terminal.env)
    const { keyPrefix, json } = looking
    const intervalMs = wholeNumber(values['interval-ms'], '--interval-ms', 50)
    const pattern = patternOf(keyPrefix, hasPattern ? first : undefined)
    const signal = terminal.interrupted()
    return withInspection(looking, terminal, async (inspection) => {
      const views = follow(inspection, { pattern, intervalMs, signal })
      if (terminal.isTerminal && !json) {
        await draw(views, terminal, keyPrefix, `${pattern ?? 'all locks'} at ${inspection.address}`)
        return EXIT.ok
      }
      let before: View = { rows: [], failure: null }
      for await (const view of views) {
        const at = new Date().toISOString()
        for (const change of changes(before, view)) {
          const text = json ? changeJson : changeText
          terminal.out(`${text(change, at, keyPrefix)}\n`)
        }
        before = view
      }
      return EXIT.ok
    })
  },
}

/**
 * Codes for the terminal. `ENTER` shows a separate screen without a cursor. `LEAVE` returns to the
 * previous screen.
 */
const [ENTER, LEAVE] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l']
const [HOME, REST_OF_LINE, REST] = ['\u001b[H', '\u001b[K', '\u001b[J']

async function draw(
  views: AsyncIterable<View>,
  terminal: Terminal,
  keyPrefix: string,
  what: string,
): Promise<void> {
  let isOpen = false
  try {
    for await (const view of views) {
      const lines = screenOf(view, terminal, keyPrefix, what)
      const text = lines.map((line) => `${line}${REST_OF_LINE}`).join('\r\n')
      terminal.out(`${isOpen ? '' : ENTER}${HOME}${text}${REST}`)
      isOpen = true
    }
  } finally {
    if (isOpen) terminal.out(LEAVE)
  }
}

function screenOf(
  { rows, failure }: View,
  { columns, rows: height }: Terminal,
  keyPrefix: string,
  what: string,
): string[] {
  const waited = rows.filter(({ waiting }) => waiting > 0).length
  const held = rows.filter(({ state }) => state !== 'free').length
  const counts = `${held.toLocaleString('en')} held, ${waited.toLocaleString('en')} waited for`
  const time = `${new Date().toTimeString().slice(0, 8)}, Ctrl-C ends`
  const lines = [
    `${counts}: ${escaped(what)}`,
    failure === null ? time : `OUTAGE: ${escaped(failure)}`,
  ]
  const room = Math.max(1, height - lines.length - 2)
  const shown = [...rows].sort(byWeight).slice(0, room)
  if (shown.length > 0) lines.push(...lockTable(shown, keyPrefix, columns))
  if (shown.length < rows.length)
    lines.push(`and ${counted(rows.length - shown.length, 'more lock')}`)
  return lines.slice(0, height).map((line) => line.slice(0, columns))
}
