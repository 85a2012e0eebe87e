// Gives random inputs to the code that reads replies, options, arguments, requests and names. The targets are in
// test/security/fuzz.
//
//   npm run fuzz -- [--runs 1000000] [--seed <n>] [--only <words of the name of a target>]
//
// It prints the number of inputs of each target, and the seed. The same seed makes the same inputs again. The program
// fails if a target crashes, needs more than 2 s for an input, or puts a secret into a text.
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
