import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { nanoid } from 'nanoid'
import { portsOf } from '../ports.ts'

export interface FixtureResult {
  status: 'passed' | 'failed' | 'pending'
  failures: string
}

/** Runs a test file of `fixtures/` in another Jest. Returns the result of each test by its full name. */
export async function runFixture(
  file: string,
  env: Record<string, string> = {},
): Promise<Map<string, FixtureResult>> {
  const root = resolve(__dirname, '../../..')
  const report = join(process.env.HOLDFAST_TEST_DIR ?? tmpdir(), `report-${nanoid()}.json`)
  const jest = spawn(
    process.execPath,
    [
      join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
      '--testMatch=**/test/support/test/fixtures/*.fixture.ts',
      '--runInBand',
      // The usual reporter starts timers, which `--runInBand` would run in the process of the tests.
      `--reporters=${join(root, 'scripts/lib/total-reporter.mjs')}`,
      '--json',
      `--outputFile=${report}`,
      '--',
      `fixtures/${file}`,
    ],
    {
      cwd: root,
      // The results of the fixture are not results of the outer test run.
      env: { ...process.env, HOLDFAST_RESULTS: undefined, HOLDFAST_PORTS_OF: portsOf(), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let output = ''
  jest.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  await new Promise((over) => jest.once('close', over))
  const { testResults } = JSON.parse(
    await readFile(report, 'utf8').catch(() => {
      throw new Error(`Jest did not run: ${output}`)
    }),
  )
  await rm(report)
  if (!testResults[0]?.assertionResults.length) throw new Error(`No test was run: ${output}`)
  return new Map(
    testResults[0].assertionResults.map(
      (each: { fullName: string; status: string; failureMessages: string[] }) => [
        each.fullName,
        { status: each.status, failures: each.failureMessages.join('\n') },
      ],
    ),
  )
}
