/**
 * The checks of the models of the read-write lock.
 *
 * @type {Record<string, import('../scripts/model.mjs').ModelChecks>}
 */
export const readWriteModels = {
  'read-write': {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [0],
    reach: [
      ['-DPART=1', '1 3 5 6 9'],
      ['-DPART=2', '2 4 8 10 12'],
      ['-DPART=3', '7 11'],
    ],
    variants: {
      TOKEN_BEHIND_WRITE: ['-DPART=2'],
      READS_BESIDE_WRITE: ['-DPART=1'],
      DEAD_READER_HELD: ['-DPART=1'],
      WRITES_BESIDE_READS: ['-DPART=1'],
      NO_PROLONG: ['-DPART=1'],
      DOWNGRADE_FREES: ['-DPART=1'],
      RENEW_REVIVES: ['-DPART=1'],
      NO_NOT_AFTER: ['-DPART=1'],
      SETTLE_EARLY: ['-DPART=1'],
      FROM_REPLY: ['-DPART=1'],
      UPGRADE_BESIDE_READS: ['-DPART=2'],
      UPGRADE_OF_WHAT_IS_GONE: ['-DPART=2'],
      TWO_UPGRADABLE: ['-DPART=2'],
      NO_TOKEN_CHECK: ['-DPART=2'],
      BLIND_COUNTS: ['-DPART=3'],
      NO_CLOCK_FLOOR: ['-DPART=3'],
      READ_SETS_COUNTER: ['-DPART=3'],
    },
  },
  'read-write-turns': {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3'], ['-DPART=4']],
    quick: [0],
    reach: [
      ['-DPART=2', '1 2 4 6 7 8 9'],
      ['-DPART=3', '3 5'],
    ],
    variants: {
      UPGRADABLE_BARGES: ['-DPART=2'],
      NO_GATE: ['-DPART=1'],
      LEAVES_IN_SILENCE: ['-DPART=1'],
      NO_PHASE: ['-DPART=1'],
      PHASE_FOR_KNOWN_WRITERS: ['-DPART=1'],
      PHASE_GOES_ON: ['-DPART=1'],
      OUT_OF_TURN: ['-DPART=1'],
      EARLY_FORGOTTEN: ['-DPART=1'],
      UPGRADE_BEFORE_PHASE: ['-DPART=2'],
      UPGRADE_IN_TURN: ['-DPART=2'],
      LAST_BUT_ONE_IN_SILENCE: ['-DPART=2'],
      DEAD_PLACES_COUNT: ['-DPART=3'],
      DEAD_READERS_COUNT: ['-DPART=3'],
      NO_POLL: ['-DPART=3'],
    },
  },
  'read-write-client': {
    checks: [['-DPART=1'], ['-DPART=2']],
    quick: [],
    reach: [
      ['-DPART=1', '1 2 3 4 5 6 7'],
      ['-DPART=2', '3 5 7'],
    ],
    variants: {
      TRY_OVERTAKES: ['-DPART=1'],
      WRITER_UNKNOWN: ['-DPART=1'],
      PLACE_GIVEN_UP: ['-DPART=1'],
      SLEEPER_FORGOTTEN: ['-DPART=1'],
      NEXT_NOT_LED: ['-DPART=1'],
      PLACE_KEPT: ['-DPART=1'],
      SHARED_LINE: ['-DPART=2'],
    },
  },
}
