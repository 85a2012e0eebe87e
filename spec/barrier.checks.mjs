/**
 * The checks of the model of the cyclic barrier.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const barrierModel = {
  barrier: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [2],
    reach: [
      ['-DPART=1', '2 3 4 5 7 8 9 11 12 15 16 17 18'],
      ['-DPART=3', '1 6 10 13 14'],
    ],
    variants: {
      COUNT_TWICE: ['-DPART=1'],
      NO_PASSED_MARK: ['-DPART=1'],
      NO_LEFT_MARK: ['-DPART=1'],
      NO_NOT_AFTER: ['-DPART=1'],
      FORGET_DOUBTFUL: ['-DPART=1'],
      FORGET_OPEN: ['-DPART=1'],
      LEAVE_BLIND: ['-DPART=1'],
      FALSE_AT_ONCE: ['-DPART=1'],
      NO_ROUND: ['-DPART=2'],
      NO_EXPIRY: ['-DPART=2'],
      NO_RENEWAL: ['-DPART=2'],
      NO_LEASE_TEST: ['-DPART=3'],
      NO_MARGIN: ['-DPART=3'],
      FROM_REPLY: ['-DPART=3'],
      ANY_MESSAGE: ['-DPART=1'],
      LONG_REQUESTS: ['-DPART=2'],
    },
  },
}
