/**
 * The checks of the model of the semaphore whose permits have leases.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const permitsModel = {
  permits: {
    checks: [['-DPART=1'], ['-DPART=2']],
    quick: [0],
    reach: [
      ['-DPART=1', '1 3 5 6 7 8 9 10 11'],
      ['-DPART=2', '2 4 12 13 14 15'],
    ],
    variants: {
      NO_MARGIN: ['-DPART=1'],
      FROM_REPLY: ['-DPART=1'],
      BLIND_RELEASE: ['-DPART=1'],
      BLIND_ACQUIRE: ['-DPART=1'],
      NO_EXPIRY: ['-DPART=1'],
      EXPIRED_STAYS: ['-DPART=1'],
      RENEW_REVIVES: ['-DPART=2'],
      NO_NOT_AFTER: ['-DPART=1'],
      SETTLE_EARLY: ['-DPART=1'],
      REUSE_IDS: ['-DPART=2'],
      CHANGE_TWICE: ['-DPART=2'],
      SET_IGNORES_TAKEN: ['-DPART=2'],
      LIMIT_IGNORES_TAKEN: ['-DPART=2'],
      NO_TOO_MANY: ['-DPART=2'],
      NO_PLACE_END: ['-DPART=1'],
    },
  },
}
