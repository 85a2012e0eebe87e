import type { KindView } from './kind.ts'
import { derived, MOST_READ, SETS } from './names.ts'

export const barrier: KindView<'barrier'> = {
  kind: 'barrier',
  named: ['holdfast_barrier'],
  expiring: ['holdfast_barrier', 'holdfast_settled'],
  hasToken: false,
  questions: ({ key, type, nowMs }) =>
    type === 'zset'
      ? {
          parties: ['HGET', derived('holdfast_barrier', key), 'parties'],
          arrived: ['ZCOUNT', key, Math.floor(nowMs), '+inf'],
          arrivals: ['ZRANGEBYSCORE', key, Math.floor(nowMs), '+inf', 'LIMIT', 0, MOST_READ],
        }
      : {},
  conclude({ type, answer }) {
    const parties = Number(answer('parties') ?? 0)
    if (type !== 'zset' || parties === 0) return null
    const arrived = Number(answer('arrived') ?? 0)
    return {
      count: { available: 0, taken: arrived, toGo: Math.max(0, parties - arrived) },
      waiting: (answer('arrivals') ?? []) as string[],
      wants: 'pass',
    }
  },
  stateOf({ count }) {
    const [arrived, toGo] = [count?.taken ?? 0, count?.toGo ?? 0]
    if (arrived === 0) return { state: 'free', stateText: 'no party has arrived' }
    return { state: 'closed', stateText: `${arrived} of ${arrived + toGo} arrived` }
  },
  toFree: ({ count }) => [
    `A barrier has no holder. Its parties continue when ${count?.toGo ?? 0} more have arrived.`,
    'A party whose process has ended leaves when the lease of its arrival ends.',
  ],
  whyNoForce:
    'is a cyclic barrier, which has no holder. Its parties continue when all of them have arrived.',
  rights: ({ lock, own, channel }) => ({
    kind: 'cyclic barrier',
    commands: [
      ['HMGET', lock, 'f'],
      ['PEXPIREAT', lock, '1'],
      ['ZMSCORE', lock, 'm'],
      ['ZCOUNT', lock, '0', '1'],
      ['ZREMRANGEBYSCORE', lock, '0', '1'],
      ...SETS(lock),
    ],
    patterns: [...own('holdfast_barrier', 'holdfast_settled'), channel('holdfast_rounds')],
  }),
}
