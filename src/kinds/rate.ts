import { refuseDetached } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { type RateLimiterOptions, rateLimit } from '../locks/rate/rate-arguments.ts'
import { RateCalls } from '../locks/rate/rate-calls.ts'
import { HoldfastRateLimiter, type RateLimiter } from '../locks/rate/rate-limiter.ts'
import { RATE } from '../servers/rate-server.ts'
import { type KindDescriptor, needsOneServer } from './kind.ts'

export interface RateMethods {
  /**
   * Returns a rate limiter, which grants at most `permits` permits in each interval of `perMs` milliseconds, over all
   * processes.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name or limit, and with `masters`, because one server must count the
   * permits
   */
  getRateLimiter(name: string, options: RateLimiterOptions): RateLimiter
}

/** @internal */
export const rate: KindDescriptor<RateMethods> = {
  names: ['getRateLimiter'],
  requests: RATE,
  open({ backend: { registry }, requests, rawName }) {
    const remoteOf = requests(RATE)
    const calls = new RateCalls(registry)
    const { waitMs } = registry.defaults.untilHeld
    const getRateLimiter = (
      name: string,
      options: RateLimiterOptions,
      ...others: readonly unknown[]
    ) => {
      const key = rawName(name, 'rate limiter')
      const limit = rateLimit(name, options, others)
      if (remoteOf === undefined) {
        throw needsOneServer(
          `Rate limiter ${show(name)}: its permits need one server`,
          'Use a',
          name,
          registry.limits.words,
        )
      }
      return new HoldfastRateLimiter(name, limit, remoteOf(key), calls, waitMs)
    }
    return {
      methods: { getRateLimiter },
      holdings: () => ({ waiting: calls.waiting }),
      shutDown: () => calls.shutDown(),
    }
  },
}

refuseDetached(HoldfastRateLimiter, 'rateLimiter')
