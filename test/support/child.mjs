/**
 * The child's side of children.ts. Both sides send one JSON value per line. A child ends when its input ends, so that
 * the child does not outlive the test.
 */
import { createInterface } from 'node:readline'

/** Sends a value to the test. */
export function tell(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** Calls the handler with each value that the test sends. If the handler rejects, the child ends. */
export function onMessage(handler) {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    try {
      await handler(JSON.parse(line))
    } catch (error) {
      console.error(error)
      process.exit(1)
    }
  })
  lines.on('close', () => process.exit(0))
}
