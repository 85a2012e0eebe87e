import { NAMES } from '../../../../src/servers/redis/calls/keys.ts'
import { PERMIT_NAMES } from '../../../../src/servers/redis/key-names/permits.ts'
import type { KeyKind } from './kind.ts'
import { HASHES, SETS } from './names.ts'
import { numberIn, numberKindOf, permitQueue, permitRequests } from './numbers.ts'

const { queue, alive, holders, channel, tickets } = PERMIT_NAMES
const { kind, request } = NAMES.number

/** Semaphores whose permits have no leases. */
export const semaphore: KeyKind = {
  kind: 'semaphore',
  named: [queue, kind],
  expiring: [request, queue, alive, kind],
  requests: permitRequests,
  conclude(answers) {
    if (numberKindOf(answers) !== 'semaphore') return null
    const number = numberIn(answers)
    return {
      isSet: number !== undefined,
      count: { available: number ?? 0, taken: null, toGo: null },
      queue: permitQueue(answers),
    }
  },
  rights: ({ lock, keyPrefix, own, channel: channelOf }) => ({
    kind: 'semaphore',
    commands: [
      ['INCRBY', lock, '1'],
      ['DECRBY', lock, '1'],
      ...HASHES(lock),
      ...SETS(lock),
      ['ZMSCORE', lock, 'm'],
      ['ZCOUNT', lock, '0', '1'],
      ['ZRANGEBYSCORE', lock, '0', '1'],
      ['UNLINK', lock],
    ],
    patterns: [
      `~{${keyPrefix}*`,
      ...own(queue, alive, request),
      ...own(holders, kind),
      channelOf(channel),
      channelOf(tickets),
    ],
  }),
}
