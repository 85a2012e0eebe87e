import { writeFileSync } from 'node:fs'

/**
 * Ends a test run with one line of totals, which people and programs can read. If HOLDFAST_RESULTS names a file, it
 * writes the results of each test file there instead.
 */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    const files = results.testResults.map((one) => ({
      path: one.testFilePath,
      project: one.displayName?.name,
      passed: one.numPassingTests,
      // A file that does not even load runs no test, and must not look like success.
      failed: one.numFailingTests + (one.testExecError ? 1 : 0),
      skipped: one.numPendingTests + one.numTodoTests,
    }))
    const { HOLDFAST_RESULTS: to } = process.env
    if (to !== undefined) writeFileSync(to, JSON.stringify(files))
    // Jest prints its own summary after all other reporters; only the exit comes later.
    else process.once('exit', () => console.log(`\n${totalOf(files)}`))
  }
}

/** @param {{ passed: number, failed: number, skipped: number }[]} files */
export function totalOf(files) {
  const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ what) =>
    files.reduce((total, file) => total + file[what], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`
}
