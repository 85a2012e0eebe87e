// Runs Jest. In CI, a test file that fails runs once more, alone. Both results are printed, and only a second failure
// counts. HOLDFAST_RERUN=0 prevents the second run.
//
//   node scripts/run-jest.mjs [arguments of Jest]…
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { totalOf } from './lib/total-reporter.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const jest = join(root, 'node_modules/jest/bin/jest.js')

/** If more files fail, none of them runs once more, because so many failures are no coincidence. */
const MOST_REPEATED = 30

/**
 * @param {readonly string[]} args the arguments of Jest
 * @param {{ node?: string, env?: NodeJS.ProcessEnv }} [how] the binary that runs Jest, and the variables of Jest
 * @returns true if all tests passed
 */
export function runJest(args, { node = process.execPath, env = process.env } = {}) {
  const first = run(args, node, env)
  let { files, ok } = first
  const failed = files.filter((file) => file.failed > 0)
  const mayRepeat = env.CI && env.HOLDFAST_RERUN !== '0'
  if (!ok && mayRepeat && failed.length > 0 && failed.length <= MOST_REPEATED) {
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
    return [] // Jest ended without results.
  }
}

/** @param {readonly string[]} args @returns {string[]} the option `--config` alone, without the choice of files */
function optionsOf(args) {
  const at = args.indexOf('--config')
  return at === -1 ? [] : args.slice(at, at + 2)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = runJest(argv.slice(2)) ? 0 : 1
}
