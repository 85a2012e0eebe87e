/** Closes a test run with one line that people and programs can read alike. */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    // A file that does not even load runs no test, and must not look like success.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const total = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`

    // Jest prints its own summary after all other reporters; only the exit comes later.
    process.once('exit', () => console.log(`\n${total}`))
  }
}
