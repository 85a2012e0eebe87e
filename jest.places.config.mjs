import base from './jest.config.mjs'

// The tests read it, and so do the processes that run them: HOLDFAST_WORLDS=sentinel,cluster chooses.
process.env.HOLDFAST_WORLDS ??= 'places'

/** The contract suites over the places where people run Redis: test/support/places. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/contract/*.test.ts', '<rootDir>/test/places/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
}
