/**
 * The checks of the model of the leader election.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const electionModel = {
  election: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [],
    reach: [
      ['-DPART=1', '2 3 4 6 7 8 9 10 11 12 13 15'],
      ['-DPART=2', '1 5 14'],
    ],
    variants: {
      NO_MARGIN: ['-DPART=1'],
      TRUST_GRANT: ['-DPART=1'],
      RESIGN_AT_ONCE: ['-DPART=1'],
      REUSE_NAMES: ['-DPART=1'],
      NO_EPOCH: ['-DPART=1'],
      NO_TOKEN_ORDER: ['-DPART=1'],
      NO_ACCEPTS: ['-DPART=1'],
      NO_IS_OVER: ['-DPART=1'],
      NO_VERIFY: ['-DPART=2'],
      NO_TIMER: ['-DPART=2'],
      NO_STAND_AGAIN: ['-DPART=2'],
    },
  },
}
