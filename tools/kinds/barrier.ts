import type { KindView } from './kind.ts'

export const barrier: KindView<'barrier'> = {
  kind: 'barrier',
  inErrors: 'a cyclic barrier',
  async read(client, name) {
    const { arrived, parties } = await client.getCyclicBarrier(name).inspect()
    if (parties === null) return null
    const count = { available: 0, taken: arrived, toGo: Math.max(0, parties - arrived) }
    return { unread: arrived, count }
  },
  hasToken: false,
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
}
