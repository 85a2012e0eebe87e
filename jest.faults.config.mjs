import base from './jest.config.mjs'

/** Tests of lost requests, outages, failovers, clusters, replicas and whole processes. They take long. */
export const FAULTS = [
  '/test/(faults|durability|process)/.*\\.test\\.ts$',
  '/test/.*(faults|storm|outage|lost-replies|late-requests|failover|cluster|sentinel)\\.test\\.ts$',
  '/test/servers/(cluster-clocks|moved-slots)\\.test\\.ts$',
]

const { maxWorkers, reporters, testMatch: _, testSequencer, testTimeout, ...each } = base

/** `npm run test:faults`: these tests, and the contract suites in the worlds that `npm test` leaves out. */
export default {
  maxWorkers,
  reporters,
  testSequencer,
  testTimeout,
  projects: [
    { ...each, displayName: 'faults', testRegex: FAULTS },
    {
      ...each,
      displayName: 'other worlds',
      testMatch: ['<rootDir>/test/contract/*.test.ts'],
      globals: { holdfastWorlds: 'other' },
    },
  ],
}
