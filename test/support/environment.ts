import { TestEnvironment } from 'jest-environment-node'
// Each test file loads the library once more, so each file makes the channels of the library. In Node.js 20 a channel
// that was collected can hide a later channel with the same name: https://github.com/nodejs/node/pull/59910. So each
// worker keeps the first channels.
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
 * Jest runs the hooks of a set-up file before those of the test file, also afterEach and afterAll.
 * The leak check and the end of the servers must come last: hooks marked with `last` are moved there.
 */
class Environment extends TestEnvironment {
  handleTestEvent(event: Event, state: { rootDescribeBlock: { hooks: Hook[] } }): void {
    // Warnings that any test may cause are of use where it fails.
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
