#!/usr/bin/env node
/**
 * Makes one mistake at a time in a copy of the sources, and runs the test that must find the mistake. A mistake that no
 * test finds shows that a test is missing. A mutant is such a mistake. The mutants are in `programs/mutants/`.
 *
 *   npm run mutants                    all mutants
 *   npm run mutants -- fair no-margin  the mutants of an area, or with these ids
 *   npm run mutants -- --shard 2/4     the second of four parts
 *   npm run mutants -- --resume        continues an interrupted run: only mutants that are not known to be killed
 *   npm run mutants -- --copies 4      the number of mutants at a time, at most 7; default: 2
 *   npm run mutants -- --why           also prints the message of each failed test
 *   npm run mutants -- --table         like --resume, and then writes the table of docs/explanation/mutants.md
 *   npm run mutants -- --list          only prints the chosen mutants, as JSON
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mutants } from '../programs/mutants/all.mjs'
import { Copy } from './lib/mutant-copy.mjs'
import { Results } from './lib/mutant-results.mjs'
import { writeTable } from './lib/mutant-tables.mjs'
import { LONGEST_TEST_MS, runTests } from './lib/mutant-tests.mjs'
import { withoutTypes } from './lib/mutant-types.mjs'

/** With a mistake, a test fails after this multiple of its usual time, plus `LONGER_MS`. This limit saves time. */
const TIMES_LONGER = 5
const LONGER_MS = 5_000

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const results = new Results(ROOT)

const { values: options, positionals } = parseArgs({
  options: {
    copies: { type: 'string', default: '2' },
    list: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    shard: { type: 'string' },
    table: { type: 'boolean', default: false },
    why: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const selected = mutants.filter((mutant) => isNamed(mutant) && isInShard(mutant))

if (options.list) console.log(JSON.stringify(selected))
else process.exitCode = (await main()) ? 0 : 1

/** @returns true if all mutants were killed */
async function main() {
  const chosen = byTest(selected)
  const isKnown = (mutant) => results.of(mutant) !== undefined
  if (!options.resume && !options.table) results.forget(chosen)
  const wereKilled = await kill(chosen.filter((mutant) => !isKnown(mutant)))
  if (options.table && wereKilled) writeTable(join(ROOT, 'docs/explanation/mutants.md'), mutants)
  return wereKilled
}

function isNamed({ id, area }) {
  return positionals.length === 0 || positionals.includes(id) || positionals.includes(area)
}

/** The id alone decides the part, so a mutant stays in its part when other mutants are added. */
function isInShard({ id }) {
  if (options.shard === undefined) return true
  const [, part, parts] = /^(\d+)\/(\d+)$/.exec(options.shard) ?? []
  if (!(part >= 1 && Number(part) <= Number(parts))) {
    throw new Error(`--shard takes for example 2/4, not ${options.shard}.`)
  }
  return createHash('sha1').update(id).digest().readUInt32BE() % parts === part - 1
}

/** Puts mutants with the same test file next to each other. */
function byTest(all) {
  const tests = [...new Set(all.map(({ test }) => test))]
  return tests.flatMap((test) => all.filter((mutant) => mutant.test === test))
}

/** @returns true if all mutants were killed */
async function kill(all) {
  const startedAt = performance.now()
  const known = new Set(mutants.flatMap(({ id, area }) => [id, area]))
  const unknown = positionals.filter((one) => !known.has(one))
  if (unknown.length > 0) throw new Error(`There is no mutant or area ${unknown.join(', ')}.`)
  const work = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'))
  const counts = new Map()
  const left = []
  try {
    const number = Math.min(Number(options.copies), 7, all.length)
    const copies = Array.from({ length: number }, (_, n) => new Copy(ROOT, work, n))
    const refused = copies.length > 0 ? withoutTypes(copies[0], all) : new Map()
    const passes = new Map()
    await inParallel(copies, all, async (copy, mutant) => {
      const { id, test } = mutant
      if (!passes.has(test)) passes.set(test, withoutMistake(copy, test, all))
      const { broken, longestMs } = (await passes.get(test)).get(mutant)
      const result = broken ?? (await judge(copy, mutant, longestMs, refused.get(mutant)))
      results.keep(mutant, result)
      report(mutant, result)
      counts.set(result.verdict, (counts.get(result.verdict) ?? 0) + 1)
      if (result.verdict !== 'killed') left.push(id)
    })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const others = ['survived', 'stale', 'no code', 'no result']
    .map((verdict) => `${counts.get(verdict) ?? 0} ${verdict}`)
    .join(', ')
  for (const id of left) console.log(`  not killed: ${id}`)
  console.log(`\n${counts.get('killed') ?? 0} killed of ${all.length}, ${others} in ${seconds} s`)
  return left.length === 0
}

/**
 * Runs the tests of a file without any mistake, unless the stored results show that the tests pass in this tree.
 *
 * @returns {Promise<Map<object, { broken?: object, longestMs: number }>>} for each mutant of the file, the time limit
 * of its tests; `broken` if its tests fail without the mistake, because their failure then proves nothing
 */
async function withoutMistake(copy, file, all) {
  const those = all.filter(({ test }) => test === file)
  const isOf = (mutant) => (one) => new RegExp(patternOf(mutant)).test(one.title)
  let passed = results.passedIn(file)
  let failed = []
  let error
  if (!those.every((mutant) => passed.some(isOf(mutant)))) {
    if (those.some(({ build }) => build)) copy.build()
    const run = () => runTests(copy, file, those.map(patternOf))
    const first = await run()
    // A second run, because a busy machine can make the first run fail.
    ;({ passed, failed, error } = first.failed.length > 0 || first.error ? await run() : first)
    if (failed.length === 0 && error === undefined) results.keepPassed(file, passed)
  }
  return new Map(
    those.map((mutant) => {
      const of = passed.filter(isOf(mutant))
      const longestMs = Math.max(...of.map(({ ms }) => ms)) * TIMES_LONGER + LONGER_MS
      const why = error ?? failed.find(isOf(mutant))?.title
      if (why === undefined && of.length > 0) {
        return [mutant, { longestMs: Math.min(longestMs, LONGEST_TEST_MS) }]
      }
      const detail = `without the mistake: ${why ?? 'no such test ran'}`
      return [mutant, { broken: { verdict: 'no result', detail, seconds: 0 } }]
    }),
  )
}

/** @returns the verdict on one mutant */
async function judge(copy, mutant, longestMs, typeError) {
  const { file, test, build = false } = mutant
  const startedAt = performance.now()
  const done = (verdict, detail) => {
    return { verdict, detail, seconds: (performance.now() - startedAt) / 1_000 }
  }
  if (typeError !== undefined) return done('no code', typeError)
  try {
    if (!copy.mutate(mutant)) return done('stale', 'its text does not occur exactly once')
    const wrong = file.startsWith('lua/') ? copy.generate() : undefined
    if (wrong !== undefined) return done('no code', wrong)
    if (build) copy.build()
    const { failed, error } = await runTests(copy, test, [patternOf(mutant)], longestMs)
    const [first] = failed
    if (error !== undefined) return done('no result', error)
    if (first === undefined) return done('survived', `${test} passed`)
    return { ...done('killed', first.title), message: first.message }
  } catch (error) {
    return done('no result', String(error))
  } finally {
    copy.restore(mutant)
  }
}

/** The pattern by which Jest finds the tests of a mutant. */
function patternOf({ name, within }) {
  const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return within === undefined ? literally(name) : `${literally(within)}.*${literally(name)}`
}

function report({ id }, { verdict, detail, seconds, message }) {
  const shown = verdict === 'killed' ? verdict : verdict.toUpperCase()
  console.log(`${shown.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${id.padEnd(28)} ${detail}`)
  if (options.why && message !== undefined) console.log(message.replace(/^/gm, '    '))
}

/** Each copy takes the next mutant when it has finished the mutant before. */
async function inParallel(copies, all, work) {
  const next = [...all]
  await Promise.all(
    copies.map(async (copy) => {
      for (let one = next.shift(); one !== undefined; one = next.shift()) await work(copy, one)
    }),
  )
}
