/** Ends the output of a test run with one line, which people and programs can read. */
export default class TotalReporter {
  onRunComplete(_contexts, { testResults }) {
    const sum = (of) => testResults.reduce((total, file) => total + of(file), 0)
    const passed = sum((file) => file.numPassingTests)
    // A file that cannot be loaded runs no test, and must not look like success.
    const failed = sum((file) => file.numFailingTests + (file.testExecError ? 1 : 0))
    const skipped = sum((file) => file.numPendingTests + file.numTodoTests)
    // Jest prints its own summary after all reporters. So the line is printed at the exit.
    process.once('exit', () =>
      console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`),
    )
  }
}
