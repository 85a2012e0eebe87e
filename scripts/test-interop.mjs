// Runs test/interop, the tests with Redisson in a JVM, once for each release of Redisson.
//
//   node scripts/test-interop.mjs [--redisson <line or version>]… [what Jest takes]…
//
// Without --redisson, the tests run with the newest release and with the last 3.x release.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureRedisson, lines } from './lib/redisson.mjs'
import { runJest } from './run-jest.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = []
const forJest = []
for (let args = process.argv.slice(2); args.length > 0; ) {
  const arg = args.shift()
  if (arg === '--redisson') wanted.push(args.shift() ?? '')
  else forJest.push(arg)
}
if (wanted.some((each) => !/^\d+(\.\d+\.\d+)?$/.test(each))) {
  console.error('usage: npm run test:interop -- [--redisson 4|3|3.27.2]… [what Jest takes]…')
  process.exit(2)
}

try {
  // Builds for all releases first, so a missing program is reported before any test runs.
  const releases = (wanted.length > 0 ? wanted : lines).map(ensureRedisson)
  const failed = releases.filter((redisson) => !passesWith(redisson))
  if (failed.length > 0) {
    throw new Error(
      `It failed with Redisson ${failed.map(({ version }) => version).join(' and ')}.`,
    )
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function passesWith({ version, classPath }) {
  console.log(`\nInterop with Redisson ${version}\n`)
  const config = join(root, 'jest.interop.config.mjs')
  const env = {
    ...process.env,
    HOLDFAST_REDISSON: version,
    HOLDFAST_REDISSON_CLASSPATH: classPath,
  }
  return runJest(['--config', config, ...forJest], { env })
}
