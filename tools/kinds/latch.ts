import type { KindView } from './kind.ts'

export const latch: KindView<'latch'> = {
  kind: 'latch',
  inErrors: 'a latch',
  async read(client, name) {
    const { count: toGo, waiters } = await client.getCountDownLatch(name).inspect()
    if (toGo === 0) return null
    return { listeners: waiters, count: { available: 0, taken: null, toGo } }
  },
  hasToken: false,
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
}
