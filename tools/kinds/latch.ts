import type { KindView } from './kind.ts'
import { derived, listenersOf } from './names.ts'

export const latch: KindView<'latch'> = {
  kind: 'latch',
  named: ['holdfast_round', 'holdfast_kind'],
  expiring: ['holdfast_request', 'holdfast_kind'],
  hasToken: false,
  questions: ({ key, type, isCluster }) =>
    type === 'string'
      ? {
          number: ['GET', key],
          note: ['GET', derived('holdfast_kind', key)],
          round: ['EXISTS', derived('holdfast_round', key)],
          listeners: listenersOf(latchChannel(key, isCluster), isCluster),
        }
      : {},
  stateOf({ count }) {
    const toGo = count?.toGo ?? 0
    return toGo > 0
      ? { state: 'closed', stateText: `closed, ${toGo} to go` }
      : { state: 'free', stateText: 'open' }
  },
  toFree({ count }) {
    const toGo = count?.toGo ?? 0
    if (toGo === 0) return ['Nothing: the latch is open.']
    return [
      `A latch has no holder. It opens after ${toGo} more countDown() calls, or with delete().`,
    ]
  },
  whyNoForce:
    'is a latch, which has no holder. countDown() of any client counts it down; delete() opens it.',
  rights: ({ lock, keyPrefix, own }) => ({
    kind: 'latch',
    commands: [['DECR', lock]],
    patterns: [
      ...own('holdfast_round', 'holdfast_request', 'holdfast_kind'),
      `&redisson_countdownlatch__channel__{${keyPrefix}*`,
    ],
  }),
}

/**
 * The channel of a latch. Redisson puts braces around every name. In a cluster, Holdfast puts no
 * braces around a name that has a hash tag.
 */
function latchChannel(key: string, isCluster: boolean): string {
  const prefix = 'redisson_countdownlatch__channel__'
  return isCluster && key.includes('{') ? `${prefix}:${key}` : `${prefix}{${key}}`
}
