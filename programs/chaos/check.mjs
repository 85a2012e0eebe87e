// Checks the history that a run has written with `--history <file>` again:
// `node programs/chaos/check.mjs <file> [--plot <file.svg>]`. The exit code is 1 if the judges find a violation.
import { createReadStream, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { check, isConvicted } from './checkers/check.mjs'
import { History } from './checkers/history.mjs'
import { printReport } from './checkers/print.mjs'
import { plot } from './plot.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { plot: { type: 'string' } },
})
const [file] = positionals
if (file === undefined) throw new Error('Which file? node programs/chaos/check.mjs <file>')
const history = new History()
for await (const line of createInterface({ input: createReadStream(file) })) history.read(line)
const report = check(history)
if (values.plot !== undefined) writeFileSync(values.plot, plot(history, report))
printReport(report)
process.exitCode = isConvicted(report) ? 1 : 0
