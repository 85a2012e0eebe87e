import { existsSync } from 'node:fs'
import { workers } from './scripts/lib/workers.mjs'

const support = (file) => {
  const path = new URL(`./test/support/${file}`, import.meta.url)
  return existsSync(path) ? `<rootDir>/test/support/${file}` : undefined
}
const globalSetup = support('global-setup.ts')
const globalTeardown = support('global-teardown.ts')
const leaks = support('leaks.ts')

/** HOLDFAST_IOREDIS=5 runs the whole suite against the older major that the peer range allows. */
const ioredis = process.env.HOLDFAST_IOREDIS
if (ioredis !== undefined && ioredis !== '5' && ioredis !== '6') {
  throw new Error(`HOLDFAST_IOREDIS must be 5 or 6, got "${ioredis}"`)
}

/** @type {import('jest').Config} */
export default {
  testEnvironment: support('environment.ts') ?? 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // jest.programs.config.mjs has these.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/package/',
    '<rootDir>/test/migration/',
    '<rootDir>/test/upgrade/',
    '<rootDir>/test/(metrics|opentelemetry|history|deployment|commands|doctor|dashboard|security)/',
    '<rootDir>/test/repo/(bench/|demo.|docs/examples)',
    '<rootDir>/test/soak/',
    // jest.places.config.mjs has these.
    '<rootDir>/test/places/',
  ],
  testTimeout: 240_000, // Only a test that hangs needs so long, even on a loaded machine.
  maxWorkers: workers(4.5), // Tests wait more than they work.
  // Tools are modules of Node.js; a test that imports what they are made of has them compiled.
  transform: { '\\.ts$': '@swc/jest', 'programs/chaos/.*\\.mjs$': '@swc/jest' },
  moduleNameMapper: ioredis === '5' ? { '^ioredis(/.*)?$': 'ioredis-5$1' } : {},
  // The Node.js and Redis binaries that the tests fetch are packages too, but none of ours.
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  testSequencer: '<rootDir>/scripts/lib/test-order.mjs',
  reporters: ['default', '<rootDir>/scripts/lib/total-reporter.mjs'],
  ...(globalSetup && { globalSetup }),
  ...(globalTeardown && { globalTeardown }),
  ...(leaks && { setupFilesAfterEnv: [leaks] }),
}
