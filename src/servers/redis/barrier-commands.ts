import {
  type Arrival,
  type Arrived,
  BARRIER,
  type BarrierFacts,
  type RemoteBarrier,
} from '../barrier-server.ts'
import type { Subscription } from '../subscription.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import { BARRIER_NAMES, barrierKeys } from './key-names/barrier.ts'
import * as scripts from './scripts/barrier.generated.ts'

class RedisBarrier implements RemoteBarrier {
  readonly #server: KindScripts
  readonly #keys: ReturnType<typeof barrierKeys>

  constructor(server: KindScripts, rawName: string) {
    this.#server = server
    this.#keys = barrierKeys(rawName)
  }

  arrive(arrival: Arrival, callMs: number): Promise<Arrived> {
    return this.#server.runner.request(scripts.arrive, this.#keys, arrival, callMs)
  }

  async withdraw(id: string, callMs: number): Promise<'left' | 'passed'> {
    return (await this.#server.runner.request(scripts.leave, this.#keys, { id }, callMs)).kind
  }

  inspect(callMs: number): Promise<BarrierFacts> {
    return this.#server.runner.request(scripts.inspect, this.#keys, {}, callMs)
  }

  listen(onEnded: (round?: number) => void): Subscription {
    return this.#server.listen(this.#keys, (message) =>
      onEnded(message === undefined ? undefined : Number(message)),
    )
  }
}

export const redisBarrier: RedisKind = {
  kind: BARRIER,
  type: 'zset',
  mark: BARRIER_NAMES.state,
  open: (server) => (rawName: string) => new RedisBarrier(server, rawName),
}
