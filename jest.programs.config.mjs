import base from './jest.config.mjs'

/** The tests of the demo and of the measurements. These work more than they wait. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/repo/bench/*.test.ts', '<rootDir>/test/repo/demo.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
}
