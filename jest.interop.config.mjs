import base from './jest.config.mjs'
import { workers } from './scripts/lib/workers.mjs'

/** The tests that need a JVM, which `npm test` does not: `npm run test:interop` builds, and runs them. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/interop/**/*.interop.ts'],
  maxWorkers: workers(2), // A JVM works more than it waits.
}
