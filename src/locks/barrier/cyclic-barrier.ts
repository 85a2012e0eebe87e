import type { Public } from '../../kit/public.ts'
import type { BarrierFacts, RemoteBarrier } from '../../servers/barrier-server.ts'
import { awaitArguments, type BarrierAwaitOptions } from './await-arguments.ts'
import type { Barriers } from './barriers.ts'

/**
 * A barrier that several parties await, like Java's `CyclicBarrier`. A party is one call of `await()`. When all parties
 * have arrived, all of their calls resolve, and the next round begins.
 *
 * A party that leaves does not break the barrier: the other parties wait until another party arrives instead. A barrier
 * object has no state in Redis, so you can create one wherever you need it.
 */
export interface CyclicBarrier extends Public<HoldfastCyclicBarrier> {}

/** The object behind a {@link CyclicBarrier}. */
export class HoldfastCyclicBarrier {
  /** The name that `getCyclicBarrier` received. */
  readonly name: string
  readonly #remote: RemoteBarrier
  readonly #barriers: Barriers

  /** @internal */
  constructor(name: string, remote: RemoteBarrier, barriers: Barriers) {
    this.name = name
    this.#remote = remote
    this.#barriers = barriers
  }

  /**
   * Arrives, and waits until all parties of the round have arrived.
   *
   * @returns true if all parties of the round have arrived. False if `waitMs` passed first: then
   * this party has left, and the round needs another party
   * @throws the reason of an abort: the party leaves in the background. `InvalidArgumentError` for
   * invalid input, and if earlier calls of the round gave another number of parties.
   * `LeaseLostError` if the client could not renew the arrival in time, so that the arrival no
   * longer counts. `RedisUnavailableError` if the server does not answer for `outageMs`.
   * `RedisRefusedError`, `ClosedError`
   */
  async await(options: BarrierAwaitOptions, ...others: readonly never[]): Promise<boolean> {
    return this.#barriers.await(this.name, this.#remote, awaitArguments(this.name, options, others))
  }

  /**
   * Returns how many parties have arrived in the current round, and how many parties the round needs.
   *
   * @throws `RedisUnavailableError` if the server does not answer for `outageMs`; `RedisRefusedError` if the server
   * refuses the call; `ClosedError`
   */
  inspect(): Promise<BarrierFacts> {
    return this.#barriers.inspect(this.name, this.#remote)
  }
}
