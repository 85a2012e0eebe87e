import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A test that takes longer has failed. */
export const LONGEST_TEST_MS = 20_000
const LONGEST_RUN_MS = 180_000

/** Tests that `npm test` does not run. */
const OF_PROGRAMS =
  /^test\/(metrics|opentelemetry|history|deployment|commands|doctor|dashboard|security|migration|package)\//

/** Messages of code that cannot run. Such a failure does not show that a test finds the mistake. */
const BROKEN =
  /SyntaxError|ReferenceError|Error compiling script|attempted to access|attempt to (call|index|perform|compare|concatenate)/

/**
 * Runs some tests of one file in one copy of the tree.
 *
 * @param {{ root: string, n: number, results: string }} copy each has ports of its own
 * @param {string} file
 * @param {readonly string[]} patterns a test runs if its title matches a pattern
 * @param {number} [longestMs] a test that takes longer has failed, unless the test sets its own timeout
 * @returns {Promise<{ passed: { title: string, ms: number }[], failed: { title: string, message: string }[], error?: string }>}
 * `error` if the outcome says nothing about the tests
 */
export async function runTests({ root, n, results }, file, patterns, longestMs = LONGEST_TEST_MS) {
  rmSync(results, { force: true })
  const args = [
    ['--runTestsByPath', file, '--runInBand', '--forceExit', '-t', patterns.join('|')],
    OF_PROGRAMS.test(file) ? ['--config', 'jest.programs.config.mjs'] : [],
    ['--testTimeout', String(Math.round(longestMs)), '--json', '--outputFile', results],
  ]
  const said = await run(root, args.flat(), String(n + 1))
  let report
  try {
    report = JSON.parse(readFileSync(results, 'utf8'))
  } catch {
    return { passed: [], failed: [], error: `Jest ended without a result: ${said}` }
  }
  const [{ assertionResults, message } = { assertionResults: [], message: '' }] = report.testResults
  const titles = (status) => assertionResults.filter((one) => one.status === status)
  const passed = titles('passed').map(({ fullName, duration }) => {
    return { title: fullName, ms: duration ?? 0 }
  })
  const failed = titles('failed').map(({ fullName, failureMessages }) => {
    return { title: fullName, message: withoutPlaces(plain(failureMessages.join('\n'))) }
  })
  const broken = failed.find((one) => BROKEN.test(one.message))
  if (broken !== undefined) return { passed, failed, error: firstLineOf(broken.message) }
  if (passed.length + failed.length === 0) {
    return { passed, failed, error: firstLineOf(plain(message)) || 'no test ran' }
  }
  return { passed, failed }
}

function run(root, args, ports) {
  return new Promise((resolve, reject) => {
    const jest = join(root, 'node_modules/jest/bin/jest.js')
    const env = { ...process.env, HOLDFAST_PORTS_OF: ports }
    const child = spawn(process.execPath, [jest, ...args], {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (part) => {
      said = (said + part).slice(-2_000)
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_RUN_MS)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(said)
    })
  })
}

function plain(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are written so.
  return text.replace(/\u001b\[\d+m/g, '')
}

/** The message of a test without the stack, at most 12 lines. */
function withoutPlaces(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
  return lines.slice(0, 12).join('\n')
}

function firstLineOf(text) {
  return text.split('\n').find((line) => line.trim() !== '') ?? ''
}
