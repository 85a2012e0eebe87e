import { derived } from '../../../../src/servers/redis/calls/keys.ts'
import { BARRIER_NAMES } from '../../../../src/servers/redis/key-names/barrier.ts'
import type { Requests } from '../answers.ts'
import type { KeyKind } from './kind.ts'
import { MOST_READ, SETS } from './names.ts'

const { state, settled, channel } = BARRIER_NAMES

export const barrier: KeyKind = {
  kind: 'barrier',
  named: [state],
  expiring: [state, settled],
  requests: ({ key, type, nowMs }): Requests =>
    type === 'zset'
      ? {
          parties: ['HGET', derived(state, key), 'parties'],
          arrived: ['ZCOUNT', key, Math.floor(nowMs), '+inf'],
          arrivals: ['ZRANGEBYSCORE', key, Math.floor(nowMs), '+inf', 'LIMIT', 0, MOST_READ],
        }
      : {},
  conclude(answers) {
    if (answers.found.type !== 'zset' || answers.isRefused('parties')) return null
    const parties = answers.number('parties')
    if (parties === 0) return null
    const taken = answers.number('arrived')
    const waiters = answers.list('arrivals')
    return {
      count: { available: 0, taken, toGo: Math.max(0, parties - taken) },
      queue: waiters.map((owner) => ({ owner, waitedMs: null, isDead: false, wants: 'pass' })),
    }
  },
  rights: ({ lock, own, channel: channelOf }) => ({
    kind: 'cyclic barrier',
    commands: [
      ['HMGET', lock, 'f'],
      ['PEXPIREAT', lock, '1'],
      ['ZMSCORE', lock, 'm'],
      ['ZCOUNT', lock, '0', '1'],
      ['ZREMRANGEBYSCORE', lock, '0', '1'],
      ...SETS(lock),
    ],
    patterns: [...own(state, settled), channelOf(channel)],
  }),
}
