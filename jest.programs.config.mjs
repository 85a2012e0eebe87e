import base from './jest.config.mjs'

/** The tests of the demo and of the measurements. These take the whole machine: one file at a time. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/repo/bench/*.test.ts', '<rootDir>/test/repo/demo.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
}
