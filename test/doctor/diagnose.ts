import type { Terminal } from '../../tools/cli/command/command.ts'
import { run } from '../../tools/cli/run.ts'
import type { Report } from '../../tools/doctor/report/report.ts'

export interface Diagnosis {
  code: number
  out: string
  err: string
}

/** Runs the program in this process. */
export async function holdfast(
  args: readonly string[],
  given: Partial<Pick<Terminal, 'env' | 'isTerminal' | 'columns' | 'interrupted' | 'prompt'>> = {},
): Promise<Diagnosis> {
  let [out, err] = ['', '']
  const terminal: Terminal = {
    env: {},
    isTerminal: false,
    columns: 100,
    rows: 24,
    interrupted: () => new AbortController().signal,
    ...given,
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
  }
  return { code: await run(args, terminal, '1.2.3'), out, err }
}

/** Returns the JSON report about the servers. */
export async function diagnose(
  args: readonly string[],
  env: Terminal['env'] = {},
): Promise<Report & { codes: string[] }> {
  const { code, out, err } = await holdfast(['doctor', '--json', ...args], { env })
  if (err !== '') throw new Error(err)
  const report = JSON.parse(out) as Report
  if (report.exitCode !== code)
    throw new Error(`It says ${report.exitCode}, and exits with ${code}`)
  return { ...report, codes: report.findings.map((one) => one.code) }
}

/** Leaves out findings that depend on a stall of this machine or on the version of the server. */
export function steady({ codes }: { codes: string[] }): string[] {
  return codes.filter((code) => code !== 'old-version' && !code.startsWith('answers-'))
}

/** An option that makes the program ignore these findings. */
export const STEADY = ['--ignore', 'old-version,answers-slow,answers-too-late']

/** The findings of one code. */
export function seen(report: Report, code: string) {
  return report.findings.filter((one) => one.code === code)
}
