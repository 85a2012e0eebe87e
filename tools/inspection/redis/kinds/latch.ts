import { kindKey, NAMES } from '../../../../src/servers/redis/calls/keys.ts'
import { LATCH_NAMES, latchKeys } from '../../../../src/servers/redis/key-names/latch.ts'
import type { Requests } from '../answers.ts'
import type { KeyKind } from './kind.ts'
import { listenersOf } from './names.ts'
import { numberIn, numberKindOf } from './numbers.ts'

const { kind, request } = NAMES.number
const { round, channel } = LATCH_NAMES

export const latch: KeyKind = {
  kind: 'latch',
  named: [round, kind],
  expiring: [request, kind],
  requests: ({ key, type, isCluster }): Requests =>
    type === 'string'
      ? {
          number: ['GET', key],
          note: ['GET', kindKey(key)],
          round: ['EXISTS', latchKeys(key, isCluster).round],
          listeners: listenersOf(latchKeys(key, isCluster).channel, isCluster),
        }
      : {},
  conclude(answers) {
    if (numberKindOf(answers) !== 'latch') return null
    const count = { available: 0, taken: null, toGo: Math.max(0, numberIn(answers) ?? 0) }
    return { count, listeners: answers.listeners('listeners') }
  },
  rights: ({ lock, keyPrefix, own }) => ({
    kind: 'latch',
    commands: [['DECR', lock]],
    patterns: [...own(round, request, kind), `&${channel}{${keyPrefix}*`],
  }),
}
