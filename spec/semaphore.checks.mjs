/**
 * The checks of the model of the plain semaphore.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const semaphoreModel = {
  semaphore: {
    checks: [['-DPART=1'], ['-DPART=2']],
    quick: [1],
    reach: [
      ['-DPART=1', '2 3 4 5 6 7 8 9 10 11 12 15 16 17 18 19'],
      ['-DPART=2', '1 13 14'],
    ],
    variants: {
      TAKE_TWICE: ['-DPART=1'],
      NO_RETURNED_MARK: ['-DPART=1'],
      GIVE_BACK_TWICE: ['-DPART=1'],
      ADD_TWICE: ['-DPART=1'],
      FORGET_DOUBTFUL: ['-DPART=1'],
      NO_NOT_AFTER: ['-DPART=1'],
      RELEASE_ONCE: ['-DPART=1'],
      NO_FIRST_WRITE: ['-DPART=1'],
      OVERTAKE: ['-DPART=1'],
      BARGE: ['-DPART=1'],
      KEEP_PLACE: ['-DPART=1'],
      NO_LEAVE: ['-DPART=1'],
      NO_NEXT_ASKS: ['-DPART=1'],
      NO_TELL_REST: ['-DPART=1'],
      HAND_OVER_BLIND: ['-DPART=1'],
      NO_TELL_HANDED: ['-DPART=1'],
      MISSED_HINT: ['-DPART=1'],
      NO_ASK_AT_ONCE: ['-DPART=1'],
      NO_PLACE_END: ['-DPART=2'],
      NO_POLL: ['-DPART=1'],
    },
  },
}
