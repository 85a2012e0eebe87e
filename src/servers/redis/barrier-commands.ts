import type { Arrival, Arrived, BarrierFacts, RemoteBarrier } from '../barrier-server.ts'
import type { Subscription } from '../subscription.ts'
import { derived, NAMES } from './calls/keys.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import * as scripts from './scripts/barrier.generated.ts'

/** The names of a cyclic barrier. */
export function barrierKeys(rawName: string) {
  return {
    barrier: rawName,
    state: derived(NAMES.barrier.state, rawName),
    settled: derived(NAMES.barrier.settled, rawName),
    channel: derived(NAMES.barrier.channel, rawName),
  }
}

/** One cyclic barrier on one server, or in a cluster. */
class RedisBarrier implements RemoteBarrier {
  readonly #server: KindScripts
  readonly #names: ReturnType<typeof barrierKeys>

  constructor(server: KindScripts, rawName: string) {
    this.#server = server
    this.#names = barrierKeys(rawName)
  }

  arrive(arrival: Arrival, callMs: number): Promise<Arrived> {
    const { barrier, state, settled } = this.#names
    return this.#server.runner.request({
      script: scripts.arrive,
      keys: [barrier, state, settled],
      args: (terms) => scripts.arriveArgs(arrival, terms, this.#names),
      read: scripts.readArrive,
      callMs,
    })
  }

  async withdraw(id: string, callMs: number): Promise<'left' | 'passed'> {
    const { barrier, settled } = this.#names
    const { kind } = await this.#server.runner.request({
      script: scripts.leave,
      keys: [barrier, settled],
      args: () => scripts.leaveArgs({ id }),
      read: scripts.readLeave,
      callMs,
    })
    return kind
  }

  inspect(callMs: number): Promise<BarrierFacts> {
    const { barrier, state } = this.#names
    const { inspect: script, readInspect: read } = scripts
    const keys = [barrier, state]
    return this.#server.runner.request({ script, keys, args: () => [], read, callMs })
  }

  listen(onEnded: (round?: number) => void): Subscription {
    return this.#server.listen(this.#names, (message) =>
      onEnded(message === undefined ? undefined : Number(message)),
    )
  }
}

export const redisBarrier: Omit<RedisKind, 'what'> = {
  type: 'zset',
  mark: NAMES.barrier.state,
  open: (server) => (rawName: string) => new RedisBarrier(server, rawName),
}
