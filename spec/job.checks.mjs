/**
 * The checks of the model of a job.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const jobModel = {
  job: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3'], ['-DPART=4']],
    quick: [1],
    reach: [
      ['-DPART=2', '1 2 3 4 5 6 8 9 10 11 12 13'],
      ['-DPART=4', '7'],
    ],
    variants: {
      NO_HOLD_TEST: ['-DPART=2'],
      NO_TOKEN_TEST: ['-DPART=2'],
      NO_COPY_TEST: ['-DPART=1'],
      ANY_TICK: ['-DPART=1'],
      SAME_TICK: ['-DPART=1'],
      SKIP_REPEATS: ['-DPART=1'],
      ENDS_REPEAT: ['-DPART=2'],
      RELEASE_FIRST: ['-DPART=2'],
      NO_AT_LEAST: ['-DPART=3'],
      NOW: ['-DPART=4'],
    },
  },
}
