import { NAMES } from '../../../../src/servers/redis/calls/keys.ts'
import { concludeHash, fairRights, forceLock, lockRequests } from './hashes.ts'
import type { KeyKind } from './kind.ts'

const { counter, forced } = NAMES.lock
const { queue, waiting, javaQueue } = NAMES.fair

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
