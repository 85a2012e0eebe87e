import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { leaves } from '../support/leaks.ts'
import { CALLS } from './fuzz/calls.ts'
import { NAMES } from './fuzz/fuzz-names.ts'
import { closeDashboards, PROGRAMS } from './fuzz/fuzz-programs.ts'
import { OPTIONS } from './fuzz/options.ts'
import { READER_NAMES, REPLIES } from './fuzz/replies.ts'

/** `npm run fuzz` sets these. */
const { HOLDFAST_FUZZ_RUNS, HOLDFAST_FUZZ_SEED, HOLDFAST_FUZZ_RESULTS } = process.env
const runs = Number(HOLDFAST_FUZZ_RUNS ?? 20_000)
const seed = HOLDFAST_FUZZ_SEED === undefined ? Date.now() % 2 ** 31 : Number(HOLDFAST_FUZZ_SEED)

const targets = [...REPLIES, ...NAMES, ...OPTIONS, ...PROGRAMS, ...CALLS]
const shares = targets.reduce((sum, { share }) => sum + share, 0)

jest.setTimeout(3_600_000)

const counts: Record<string, number> = {}
afterAll(async () => {
  await closeDashboards()
  if (HOLDFAST_FUZZ_RESULTS !== undefined) {
    writeFileSync(HOLDFAST_FUZZ_RESULTS, JSON.stringify({ seed, counts }))
  }
})

test('the reader of the reply of every script is found', () => {
  const folder = join(__dirname, '../../src/servers/redis/scripts')
  const expected = readdirSync(folder).flatMap((file) => {
    const room = /^(.+)\.generated\.ts$/.exec(file)?.[1]
    if (room === undefined) return []
    const source = readFileSync(join(folder, file), 'utf8')
    return [...source.matchAll(/^export const (\w+)/gm)].map(([, name]) => `${room} ${name}`)
  })
  expect(expected.length).toBeGreaterThan(30)
  expect(READER_NAMES).toEqual(expect.arrayContaining(expected))
})

test.each(targets.map((one) => [one.name, one] as const))(
  `%s: no crash, no hang, no secret (seed ${seed})`,
  async (name, { share, property }) => {
    leaves({ keys: true, why: 'these targets use no server' })
    const numRuns = Math.max(50, Math.round((runs * share) / shares))
    const result = await fc.check(property(), { numRuns, seed })
    counts[name] = result.numRuns
    if (result.failed) throw new Error(fc.defaultReportMessage(result as never))
    expect(result.numRuns).toBe(numRuns)
  },
)
