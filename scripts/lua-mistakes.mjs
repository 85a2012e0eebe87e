#!/usr/bin/env node
/**
 * Finds missing tests. It makes small mistakes in a Lua script, one at a time, and runs the tests of the script. It
 * prints the mistakes that no test finds. Some mistakes change nothing that matters. Each other mistake needs a test,
 * and perhaps an entry in programs/mutants.
 *
 *   npm run lua:mistakes                            the scripts of the read-write lock, the semaphores and the latch
 *   npm run lua:mistakes -- permits/set.lua         one script, or a part of scripts
 *   npm run lua:mistakes -- --list latch/look.lua   only prints its mistakes, as JSON
 *   npm run lua:mistakes -- --list-tests            only prints the file that Jest runs for each mistake
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { luaMistakes } from './lib/lua-mistakes.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const JEST = [
  join(ROOT, 'node_modules/jest/bin/jest.js'),
  ...['--testMatch', '**/programs/mutants/lua-mistakes.ts'],
]

/** The number of mistakes that one process of Jest tests. */
const AT_ONCE = 60
const LONGEST_TEST_MS = 20_000

const KINDS = ['lua/number-kinds']
const TESTS = {
  latch: ['latch/lua/latch-scripts', ...KINDS],
  permits: ['semaphore/lua/permit-scripts', 'semaphore/lua/permit-holders', ...KINDS],
  'read-write': ['read-write/lua/read-write-scripts'],
  semaphore: ['semaphore/lua/semaphore-scripts', ...KINDS],
}
const FOLDERS = Object.keys(TESTS)
const scripts = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, 'lua', folder)).map((file) => `${folder}/${file}`),
)

const { values: options, positionals } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    'list-tests': { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const files = positionals.length > 0 ? positionals : [...scripts, ...partsOf(scripts)]

if (options.list) console.log(JSON.stringify(files.flatMap((file) => luaMistakes(read(file)))))
else if (options['list-tests']) listTests()
else main()

function listTests() {
  const { status } = spawnSync(process.execPath, [...JEST, '--listTests'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}

function main() {
  const startedAt = performance.now()
  const totals = { mistakes: 0, left: 0 }
  for (const file of files) {
    const made = mistakesIn(file)
    let left = made
    for (const test of testsOf(file)) {
      const found = foundBy(test, left)
      left = left.filter((mistake) => !found.has(mistake))
    }
    for (const { line, before, after } of left)
      console.log(`  ${file}:${line} «${before}→${after}»`)
    console.log(`${made.length - left.length} found of ${made.length}  ${file}`)
    totals.mistakes += made.length
    totals.left += left.length
  }
  const { mistakes, left } = totals
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(`\n${mistakes - left} found of ${mistakes}, ${left} not found in ${seconds} s`)
}

/** The mistakes in a file, each with the changed sources of all scripts that contain the file. */
function mistakesIn(file) {
  const source = read(file)
  return luaMistakes(source).map(({ from, to, text }) => {
    const changed = source.slice(0, from) + text + source.slice(to)
    return {
      line: source.slice(0, from).split('\n').length,
      before: source.slice(from, to),
      after: text,
      sources: Object.fromEntries(
        scriptsWith(file).map((script) => [
          script.replace('.lua', ''),
          whole(script, file, changed),
        ]),
      ),
    }
  })
}

/** @returns {Set<object>} the mistakes that a test of that file finds */
function foundBy(test, mistakes) {
  const found = new Set()
  for (let from = 0; from < mistakes.length; from += AT_ONCE) {
    // The first run has no mistake. It checks that the tests pass without a mistake.
    const some = [undefined, ...mistakes.slice(from, from + AT_ONCE)]
    for (const { status, fullName } of runTests(test, some)) {
      const mistake = some[Number(/^#(\d+)#/.exec(fullName)?.[1])]
      if (status !== 'failed') continue
      if (mistake === undefined) throw new Error(`Without any mistake a test fails: ${fullName}`)
      found.add(mistake)
    }
  }
  return found
}

function runTests(test, mistakes) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lua-'))
  const [given, results] = [join(folder, 'mistakes.json'), join(folder, 'results.json')]
  try {
    const sources = mistakes.map((mistake) => mistake?.sources ?? {})
    writeFileSync(given, JSON.stringify({ test: `test/${test}.test.ts`, mistakes: sources }))
    const args = [
      [...JEST, '--runInBand', '--forceExit'],
      ['--env', join(ROOT, 'programs/mutants/lua-environment.ts')],
      ['--testTimeout', String(LONGEST_TEST_MS), '--json', '--outputFile', results],
    ]
    const env = { ...process.env, HOLDFAST_LUA_MISTAKES: given }
    const { stderr } = spawnSync(process.execPath, args.flat(), { cwd: ROOT, env })
    if (!existsSync(results)) throw new Error(`Jest ended without a result: ${stderr}`)
    const [{ assertionResults, message }] = JSON.parse(readFileSync(results, 'utf8')).testResults
    if (assertionResults.length === 0) throw new Error(message)
    return assertionResults
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function testsOf(file) {
  const folders = scriptsWith(file).map((script) => dirname(script))
  return [...new Set(folders.flatMap((folder) => TESTS[folder]))]
}

/** The scripts that change if the file changes. */
function scriptsWith(file) {
  return scripts.filter((script) => script === file || read(script).includes(includeOf(file)))
}

/** The parts that at least one of these scripts includes. */
function partsOf(all) {
  return readdirSync(join(ROOT, 'lua/parts'))
    .map((file) => `parts/${file}`)
    .filter((part) => all.some((script) => read(script).includes(includeOf(part))))
}

function whole(script, changedFile, changed) {
  const text = script === changedFile ? changed : read(script)
  return text.replace(/^-- include: (\S+)$/gm, (_, part) =>
    (part === changedFile ? changed : read(part)).trimEnd(),
  )
}

function includeOf(part) {
  return `-- include: ${part}\n`
}

function read(file) {
  return readFileSync(join(ROOT, 'lua', file), 'utf8')
}
