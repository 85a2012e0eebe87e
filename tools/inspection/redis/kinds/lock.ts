import { NAMES } from '../../../../src/servers/redis/calls/keys.ts'
import { FAIR_NAMES } from '../../../../src/servers/redis/key-names/fair.ts'
import { concludeHash, fairRights, forceLock, lockRequests } from './hashes.ts'
import type { KeyKind } from './kind.ts'

const { counter, forced } = NAMES.lock
const { queue, waiting, javaQueue } = FAIR_NAMES

/** Plain locks and fair locks. */
export const lock: KeyKind = {
  kind: 'lock',
  named: [counter, javaQueue, queue, waiting],
  expiring: [queue, waiting, forced],
  requests: lockRequests,
  conclude: (answers) => concludeHash(answers, 'lock'),
  force: forceLock,
  rights: (names) => ({ kind: 'fair lock', ...fairRights(names) }),
}
