/**
 * The checks of the model of a lock that its client keeps.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const keptModel = {
  kept: {
    checks: [['-DPART=1'], ['-DPART=2']],
    quick: [0, 1],
    reach: [
      ['-DPART=1', '1 2 3 4 5 6 7 8'],
      ['-DPART=2', '1 2 3 4 5 6'],
    ],
    variants: {
      KEEP_EXPIRED: ['-DPART=1'],
      KEEP_AS_NEW: ['-DPART=1'],
      KEEP_PAST_TOKENS: ['-DPART=1'],
      KEEP_DEAF: ['-DPART=2'],
      NO_FREE_ON_CUT: ['-DPART=2'],
      FORGET_WANTED: ['-DPART=2'],
      NO_MESSAGE: ['-DPART=2'],
      ONE_MESSAGE: ['-DPART=2'],
    },
  },
}
