// Gives inputs at random to what reads replies, options, arguments, requests and names: test/security/fuzz.
//
//   npm run fuzz -- [--runs 1000000] [--seed <n>] [--only <words of the name of a target>]
//
// It prints how many inputs each target had, and the seed, which gives the same inputs again. It fails for a crash, for
// an answer that takes longer than 2 s, and for a secret in a text.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
  },
})
for (const name of ['runs', 'seed']) {
  if (!/^\d+$/.test(values[name])) {
    console.error(`--${name} must be a whole number; got ${JSON.stringify(values[name])}.`)
    process.exit(2)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-fuzz-'))
const results = join(folder, 'results.json')
try {
  const args = ['node_modules/jest/bin/jest.js', '--config', 'jest.programs.config.mjs']
  const only = values.only === undefined ? [] : ['--testNamePattern', values.only]
  const { status } = spawnSync(process.execPath, [...args, ...only, 'test/security/fuzz'], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      HOLDFAST_FUZZ_RUNS: values.runs,
      HOLDFAST_FUZZ_SEED: values.seed,
      HOLDFAST_FUZZ_RESULTS: results,
    },
  })
  const { counts } = JSON.parse(readFileSync(results, 'utf8'))
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  for (const [name, count] of Object.entries(counts))
    console.log(`${String(count).padStart(9)}  ${name}`)
  console.log(`${String(all).padStart(9)}  in all, seed ${values.seed}`)
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
