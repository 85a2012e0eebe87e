import type { Command } from '../cli/command/command.ts'
import { examine } from './checks/all.ts'
import { gather } from './facts/gather.ts'
import { readOptions, USAGE } from './options.ts'
import { newReport } from './report/report.ts'
import { textOf } from './report/text.ts'

/** `npx holdfast doctor`: gathers facts, checks them, and prints the report. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'check if Redis is fit for locks, and list what to fix',
  usage: USAGE,
  async run(args, { out, env, isTerminal, columns }) {
    const options = readOptions(args, env)
    const facts = await gather(options.where, options.terms, options.budget)
    const report = newReport(facts, examine(facts), options)
    const colours = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
    out(
      options.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report, { columns, colours }),
    )
    return report.exitCode
  },
}
