import type { KindView } from './kind.ts'

export const rate: KindView<'rate'> = {
  kind: 'rate',
  inErrors: 'a rate limiter',
  async read(client, name) {
    // The server answers with the limit that it stores.
    const limiter = client.getRateLimiter(name, { permits: 1, perMs: 1 })
    const { permits, used, waiting } = await limiter.inspect()
    if (used === 0 && waiting === 0) return null
    return {
      unread: waiting,
      count: { available: Math.max(0, permits - used), taken: used, toGo: null },
    }
  },
  hasToken: false,
  stateOf({ count }) {
    const [available, used] = [count?.available ?? 0, count?.taken ?? 0]
    const stateText = `${used} of ${available + used} used`
    return { state: available > 0 ? 'free' : 'closed', stateText }
  },
  toFree: () => [
    'A permit of a rate limiter has no holder. It becomes free when its interval has passed.',
  ],
  whyNoForce:
    'is a rate limiter, which has no holder. Its permits become free when their interval has passed.',
}
