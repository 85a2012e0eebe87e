// Runs Jest, with what it takes. In CI a test file that fails is run once more, alone: what came of both
// is printed, and a second failure counts.
//
//   node scripts/run-jest.mjs [what Jest takes]…
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { totalOf } from './lib/total-reporter.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const jest = join(root, 'node_modules/jest/bin/jest.js')

/** More files than this fail for a reason that is not chance. */
const MOST_REPEATED = 30

/**
 * @param {readonly string[]} args what Jest takes
 * @param {{ node?: string, env?: NodeJS.ProcessEnv }} [how] the binary to run it with, and its variables
 * @returns whether all tests passed
 */
export function runJest(args, { node = process.execPath, env = process.env } = {}) {
  const first = run(args, node, env)
  let { files, ok } = first
  const failed = files.filter((file) => file.failed > 0)
  if (!ok && env.CI && failed.length > 0 && failed.length <= MOST_REPEATED) {
    const settings = optionsOf(args)
    ok = true
    for (const { path, project } of failed) {
      const name = [project, relative(root, path)].filter(Boolean).join(' ')
      console.log(`\n${name} failed. Once more, alone:\n`)
      const only = project === undefined ? [] : ['--selectProjects', project]
      const second = run([...settings, ...only, '--runTestsByPath', path], node, env)
      console.log(`\n${name}: failed at first, ${second.ok ? 'passed' : 'failed again'} alone`)
      ok &&= second.ok
      if (second.ok) {
        const is = (file) => file.path === path && file.project === project
        files = files.map((file) => (is(file) ? (second.files.find(is) ?? file) : file))
      }
    }
  }
  console.log(`\n${totalOf(files)}`)
  return ok
}

/**
 * @param {readonly string[]} args
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
function run(args, node, env) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-jest-'))
  const results = join(folder, 'results.json')
  try {
    const { status } = spawnSync(node, [jest, ...args], {
      cwd: root,
      stdio: 'inherit',
      env: { ...env, HOLDFAST_RESULTS: results },
    })
    return { ok: status === 0, files: resultsIn(results) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} path
 * @returns {{ path: string, project?: string, passed: number, failed: number, skipped: number }[]}
 */
function resultsIn(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return [] // It ended before any test did.
  }
}

/** @param {readonly string[]} args @returns {string[]} its configuration, without the choice of files */
function optionsOf(args) {
  const at = args.indexOf('--config')
  return at === -1 ? [] : args.slice(at, at + 2)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = runJest(argv.slice(2)) ? 0 : 1
}
