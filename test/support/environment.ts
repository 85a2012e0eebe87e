import { TestEnvironment } from 'jest-environment-node'
// Each test file loads the library again and so makes the diagnostics channels of the library again. In Node.js 20, a
// collected channel can hide a later channel with the same name: https://github.com/nodejs/node/pull/59910. So each
// worker keeps the first channels alive.
import '../../src/diagnostics.ts'

interface Hook {
  fn: unknown
}

interface Event {
  name: string
  test?: { errors: unknown[] }
}

const isLast = (hook: Hook) => Object.hasOwn(hook.fn as object, Symbol.for('holdfast.last'))

/**
 * Jest runs the hooks of a set-up file before the hooks of the test file, even `afterEach` and `afterAll`. But the leak
 * check and the end of the servers must come last. So this class moves the hooks that `last` marked to the end.
 */
class Environment extends TestEnvironment {
  handleTestEvent(event: Event, state: { rootDescribeBlock: { hooks: Hook[] } }): void {
    // Print the expected warnings of a failed test, because they may explain the failure.
    if (event.name === 'test_done' && (event.test?.errors.length ?? 0) > 0) {
      const key = Symbol.for('holdfast.warnings')
      const held: string[] = Reflect.get(this.global as object, key) ?? []
      for (const warning of held) process.stderr.write(`${warning}\n`)
    }
    if (event.name !== 'run_start') return
    const { hooks } = state.rootDescribeBlock
    hooks.sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
  }
}

// biome-ignore lint/style/noDefaultExport: Jest takes the environment from there.
export default Environment
