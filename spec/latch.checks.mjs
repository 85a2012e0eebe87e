/**
 * The checks of the model of the count-down latch.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const latchModel = {
  latch: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [1],
    reach: [
      ['-DPART=1', '1 2 4 5 6 7 11 12 13'],
      ['-DPART=2', '8 9 10 14 15 16 17'],
      ['-DPART=3', '3'],
    ],
    variants: {
      NO_ROUND_CHECK: ['-DPART=1'],
      DELETE_ANY: ['-DPART=1'],
      LATE_COUNTS: ['-DPART=1'],
      NO_ASK_AGAIN: ['-DPART=1'],
      COUNT_TWICE: ['-DPART=1'],
      NO_UNTIL: ['-DPART=1'],
      SET_AGAIN: ['-DPART=1'],
      NO_FUTURE_CHECK: ['-DPART=3'],
      NO_FAR_CHECK: ['-DPART=3'],
      ASKED_KEPT: ['-DPART=3'],
      NO_SET_AT: ['-DPART=2'],
      COUNT_DECIDES: ['-DPART=2'],
      SAW_ANY: ['-DPART=2'],
      LOOK_OF_BEFORE: ['-DPART=2'],
      NO_SECOND_LOOK: ['-DPART=2'],
    },
  },
}
