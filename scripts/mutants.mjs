#!/usr/bin/env node
/**
 * Makes one mistake after the other in a copy of the sources, and runs the test that is to find it:
 * one that no test finds shows a test that is missing. The mistakes are in `test/mutants/`.
 *
 *   npm run mutants                    all of them
 *   npm run mutants -- fair no-margin  those of an area, or some by their ids
 *   npm run mutants -- --why           prints what each failed test said as well
 *   npm run mutants -- --table         those of which nothing is known since they or their files were
 *                                      changed; and writes the tables of docs/explanation/mutants.md
 *   npm run mutants -- --list          only prints the list, as JSON
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mutants } from '../test/mutants/all.mjs'
import { Results } from './lib/mutant-results.mjs'
import { writeTables } from './lib/mutant-tables.mjs'
import { runTests } from './lib/mutant-tests.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const WORKERS = 2
const results = new Results(ROOT)

/** Not part of the copy: what is linked, made anew, or of no use there. */
const LEFT_OUT = new Set(['node_modules', '.cache', '.git', 'dist', 'coverage', 'target'])

const { values: options, positionals } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    why: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

if (options.list) console.log(JSON.stringify(mutants))
else if (options.table) process.exitCode = (await tables(mutants)) ? 0 : 1
else process.exitCode = (await main(chosen())) ? 0 : 1

async function tables(all) {
  const unknown = all.filter((mutant) => results.of(mutant) === undefined)
  if (unknown.length > 0 && !(await main(unknown))) return false
  writeTables(join(ROOT, 'docs/explanation/mutants.md'), all)
  return true
}

function chosen() {
  const known = new Set(mutants.flatMap(({ id, area }) => [id, area]))
  const unknown = positionals.filter((one) => !known.has(one))
  if (unknown.length > 0) throw new Error(`There is no mutant or area ${unknown.join(', ')}.`)
  if (positionals.length === 0) return mutants
  return mutants.filter(({ id, area }) => positionals.includes(id) || positionals.includes(area))
}

/** @returns whether all were caught */
async function main(all) {
  const work = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'))
  try {
    const copies = Array.from({ length: Math.min(WORKERS, all.length) }, (_, n) => copyOf(work, n))
    const passes = new Map()
    await inParallel(copies, all, async (copy, mutant) => {
      const { test } = mutant
      if (!passes.has(test)) passes.set(test, withoutMistake(copy, test, all))
      const broken = (await passes.get(test)).get(mutant)
      const result = broken === undefined ? await judge(copy, mutant) : broken
      results.keep(mutant, result)
      report(mutant, result)
    })
    const left = all.filter((mutant) => results.of(mutant) === undefined)
    console.log(`\n${all.length - left.length} of ${all.length} caught.`)
    for (const { id } of left) console.log(`  not caught: ${id}`)
    return left.length === 0
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** A copy of the tree, with links to what is large and not changed. */
function copyOf(work, n) {
  const root = join(work, `copy-${n + 1}`)
  const filter = (path) =>
    !relative(ROOT, path)
      .split(sep)
      .some((part) => LEFT_OUT.has(part))
  cpSync(ROOT, root, { recursive: true, filter })
  for (const name of ['node_modules', '.cache']) symlinkSync(join(ROOT, name), join(root, name))
  return { root, n, results: join(work, `results-${n + 1}.json`), isBuilt: false }
}

/** @returns {Promise<Map<object, object>>} what of a file does not pass as things stand, so finds nothing */
async function withoutMistake(copy, file, all) {
  const those = all.filter(({ test }) => test === file)
  copy.isBuilt = false
  if (those.some(({ build }) => build)) builds(copy)
  const run = () => runTests(copy, file, those.map(patternOf))
  const first = await run()
  // Once more, for a busy machine.
  const { passed, failed, error } = first.failed.length > 0 || first.error ? await run() : first
  const broken = new Map()
  for (const mutant of those) {
    const isOf = (title) => new RegExp(patternOf(mutant)).test(title)
    const why = error ?? failed.find(({ title }) => isOf(title))?.title
    if (why === undefined && passed.some(isOf)) continue
    const detail = `without the mistake: ${why ?? 'no such test ran'}`
    broken.set(mutant, { verdict: 'no result', detail, seconds: 0 })
  }
  return broken
}

/** @returns what became of one mistake */
async function judge(copy, { file, search, replace, test, name, within, build = false }) {
  const path = join(copy.root, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(search).length !== 2) {
    return { verdict: 'stale', detail: 'its text does not occur exactly once', seconds: 0 }
  }
  const startedAt = performance.now()
  const done = (verdict, detail) => {
    return { verdict, detail, seconds: (performance.now() - startedAt) / 1_000 }
  }
  try {
    writeFileSync(
      path,
      text.replace(search, () => replace),
    )
    const wrong = file.startsWith('lua/') ? generates(copy) : compiles(copy)
    if (wrong !== undefined) return done('no code', wrong)
    copy.isBuilt = false
    if (build) builds(copy)
    const { failed, error } = await runTests(copy, test, [patternOf({ name, within })])
    const [first] = failed
    if (error !== undefined) return done('no result', error)
    if (first === undefined) return done('SURVIVED', `${test} passed`)
    return { ...done('caught', first.title), message: first.message }
  } catch (error) {
    return done('no result', String(error))
  } finally {
    writeFileSync(path, text)
    if (file.startsWith('lua/')) generates(copy)
    copy.isBuilt = false
  }
}

/** What Jest finds the tests of a mutant by. */
function patternOf({ name, within }) {
  const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return within === undefined ? literally(name) : `${literally(within)}.*${literally(name)}`
}

/** @returns what is wrong, if anything */
function generates({ root }) {
  return wrongIn(spawnSync(process.execPath, ['scripts/build-lua.mjs'], { cwd: root }))
}

/** Tests run without types; what no compiler takes is no mistake that anybody makes. */
function compiles({ root, results }) {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '--noEmit', '--incremental', '--tsBuildInfoFile', `${results}.tsbuildinfo`]
  return wrongIn(spawnSync(process.execPath, args, { cwd: root }))
}

function builds(copy) {
  if (copy.isBuilt) return
  const wrong = wrongIn(spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: copy.root }))
  if (wrong !== undefined) throw new Error(wrong)
  copy.isBuilt = true
}

function wrongIn({ status, stdout, stderr }) {
  return status === 0 ? undefined : `${stdout}${stderr}`.trim().split('\n')[0]
}

function report({ id }, { verdict, detail, seconds, message }) {
  console.log(
    `${verdict.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${id.padEnd(28)} ${detail}`,
  )
  if (options.why && message !== undefined) console.log(message.replace(/^/gm, '    '))
}

/** Each copy takes the next one as soon as it is done with its last. */
async function inParallel(copies, all, work) {
  const next = [...all]
  await Promise.all(
    copies.map(async (copy) => {
      for (let one = next.shift(); one !== undefined; one = next.shift()) await work(copy, one)
    }),
  )
}
