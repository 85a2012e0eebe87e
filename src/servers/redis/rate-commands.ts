import {
  RATE,
  type RateAnswer,
  type RateFacts,
  type RateGrant,
  type RateRequest,
  type RemoteRate,
} from '../rate-server.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import { RATE_NAMES, rateKeys } from './key-names/rate.ts'
import * as scripts from './scripts/rate.generated.ts'

class RedisRate implements RemoteRate {
  readonly #server: KindScripts
  readonly #keys: ReturnType<typeof rateKeys>

  constructor(server: KindScripts, rawName: string) {
    this.#server = server
    this.#keys = rateKeys(rawName)
  }

  acquire(request: RateRequest, callMs: number): Promise<RateAnswer> {
    return this.#server.runner.request(scripts.acquire, this.#keys, request, callMs)
  }

  async giveBack(grant: RateGrant, callMs: number): Promise<void> {
    await this.#server.runner.request(scripts.giveBack, this.#keys, grant, callMs)
  }

  inspect(callMs: number): Promise<RateFacts> {
    return this.#server.runner.request(scripts.inspect, this.#keys, {}, callMs)
  }

  async reset(callMs: number): Promise<void> {
    await this.#server.runner.request(scripts.reset, this.#keys, {}, callMs)
  }
}

export const redisRate: RedisKind = {
  kind: RATE,
  type: 'list',
  mark: RATE_NAMES.state,
  open: (server) => (rawName: string) => new RedisRate(server, rawName),
}
