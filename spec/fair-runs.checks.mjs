/**
 * The checks of the model of the runs of the fair lock.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const fairRunsModel = {
  'fair-runs': {
    checks: [[]],
    quick: [0],
    reach: [['', '1 2 3 4 5 6 7 8 9 10 11 12 13 14']],
    variants: {
      NO_RESERVE: [],
      NO_SERVED: [],
      ANY_PLACE: [],
      RUN_OVER_B: [],
      OLD_RUN: [],
      NO_PROOF: [],
      NEW_PROOF: [],
      OWN_ID: [],
      OWN_TOKEN: [],
    },
  },
}
