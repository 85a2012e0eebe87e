import { derived, tagged } from '../../../../src/servers/redis/calls/keys.ts'
import {
  READ_WRITE_NAMES,
  readWriteKeys,
} from '../../../../src/servers/redis/key-names/read-write.ts'
import type { Requests } from '../answers.ts'
import { concludeHash, readersOf } from './hashes.ts'
import type { KeyKind } from './kind.ts'
import { CLAIM_MS, COUNTER_MS, HASHES, queueOf, SETS } from './names.ts'

const { readers, writers, alive, phase, channel } = READ_WRITE_NAMES

export const readWrite: KeyKind = {
  kind: 'read-write',
  named: [readers, writers],
  expiring: [readers, writers, alive, phase],
  requests: ({ key, type }): Requests =>
    type === 'hash' || type === 'none'
      ? {
          writers: queueOf(writers, key),
          reading: queueOf(readers, key),
          alive: ['HGETALL', derived(alive, key)],
        }
      : {},
  // The key of a reader's lease contains the start of the hold in µs, or `1` from Redisson.
  moreRequests(answers) {
    const requests = readersOf(answers).flatMap((owner) => {
      const lease = `${tagged(answers.found.key)}:${owner}:rwlock_timeout:1`
      return [
        [`ttl ${owner}`, ['PTTL', lease] as const],
        [`since ${owner}`, ['GET', lease] as const],
      ] as const
    })
    return Object.fromEntries(requests)
  },
  conclude: (answers) => concludeHash(answers, 'read-write'),
  force({ key, owner, token, floor, publish }) {
    const { lock, counter, prefix, channel, ...own } = readWriteKeys(key)
    const keys = [lock, counter, own.readers, own.writers, own.alive, own.phase]
    const args = [owner, token ?? '', floor, COUNTER_MS, CLAIM_MS, prefix, channel, publish]
    return [{ script: 'takeReadWrite', keys, args }]
  },
  rights: ({ lock, keyPrefix, own, channel: channelOf }) => ({
    kind: 'read-write lock',
    commands: [['EXISTS', lock], ...HASHES(lock), ...SETS(lock)],
    patterns: [`~{${keyPrefix}*`, ...own(readers, writers, alive, phase), channelOf(channel)],
  }),
}
