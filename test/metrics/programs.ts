import { spawnSync } from 'node:child_process'

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined
}

/** If the programs are not installed, these tests are skipped. In CI, which installs them, the tests fail. */
export const describeWith = (...programs: string[]) =>
  process.env.CI === 'true' || programs.every(isInstalled) ? describe : describe.skip

/** @returns the output and the exit status of promtool for this input */
export function promtool(args: string[], input?: string): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8', input })
  if (error !== undefined) throw error
  return { status, said: stdout + stderr }
}
