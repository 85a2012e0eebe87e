/** Closes a test run with one line that people and programs can read alike. */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    // A file that does not even load runs no test, and must not look like success.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    this.line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`
    // Jest writes its own summary to stderr; the same stream keeps the order.
    process.stderr.write(`\n${this.line}\n`)
  }
}
