import { InvalidArgumentError } from '../../errors.ts'
import type { Public } from '../../kit/public.ts'
import { show } from '../../kit/show.ts'
import { assertNoMore } from '../../options/input.ts'
import type { AwaitOptions, LatchRoundOptions } from '../../options/options.ts'
import type { LatchFacts } from '../../servers/answers.ts'
import { OPEN, type RemoteLatch } from '../../servers/latch-server.ts'
import { awaitArguments, roundOf } from './latch-arguments.ts'
import type { Latches } from './latches.ts'

const SETTING = {
  failed: 'its count was not set',
  unknown: 'not known whether its count was set by this call, which may have done it',
}
const COUNTING = {
  failed: 'not counted down',
  unknown:
    'not known whether it was counted down by this call, which may have done it, and once at most',
}
const DELETING = {
  failed: 'not deleted',
  unknown: 'not known whether it was deleted by this call, which may have done it',
}

/**
 * A latch that many await, and that opens when it has been counted down to zero, as Redisson's `RCountDownLatch`
 * of that name. A latch whose count was never set, or was deleted, is open. When it is open its count can be set
 * anew: that is another round.
 *
 * A latch object holds nothing by itself and costs nothing; make one wherever it is needed.
 */
export interface CountDownLatch extends Public<HoldfastCountDownLatch> {}

/** The {@link CountDownLatch} of a client. */
export class HoldfastCountDownLatch {
  /** The name of the latch, as it was given to `getCountDownLatch`. */
  readonly name: string
  readonly #self: { readonly name: string; readonly rawName: string }
  readonly #remote: RemoteLatch
  readonly #latches: Latches

  /** @internal */
  constructor(name: string, rawName: string, remote: RemoteLatch, latches: Latches) {
    this.name = name
    this.#self = { name, rawName }
    this.#remote = remote
    this.#latches = latches
  }

  /**
   * Sets the count of a latch that is open.
   *
   * @param count from 1 up
   * @returns whether this call set it; false where a count is set already, which stays as it is
   * @throws `InvalidArgumentError` for a count that is none; `RedisUnavailableError` when it was not confirmed,
   * and then says whether it may have been set all the same; `RedisRefusedError`, `ClosedError`
   */
  async trySetCount(count: number, ...others: readonly never[]): Promise<boolean> {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new InvalidArgumentError(
        `Latch ${show(this.name)}: its count must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}; ` +
          `got ${show(count)}.`,
        this.name,
      )
    }
    assertNoMore(others)
    return this.#latches.change(this.#self, {
      ...SETTING,
      ask: (request, callMs) => this.#remote.trySetCount(count, request, callMs),
      found: (isSet) => (isSet ? OPEN : undefined),
    })
  }

  /**
   * Counts down by one, and opens the latch at zero. It counts once, however often the request has to be sent.
   * An open latch stays as it is.
   *
   * A call counts in the round in which it was made. When its request reaches Redis later, in the next round, it
   * counts for nothing and gives 0. Redis tells this by the time of the call, as exactly as the client knows the
   * server's clock: mostly within a millisecond. With `round` nothing depends on clocks.
   *
   * @returns what was left right after it, when the server has confirmed it. 0 says that its round is over: by this
   * call, or before it.
   * @throws `RedisUnavailableError` when it was not confirmed, and then says whether it may have been counted
   * all the same; `RedisRefusedError`, `ClosedError`
   */
  countDown(): Promise<number>
  /**
   * Counts down by one in that round, and in no other.
   *
   * @returns what was left right after it; null when that round was over before, and nothing was counted
   * @throws as without a round; `InvalidArgumentError` for a `round` that is no number of a round
   */
  countDown(options: LatchRoundOptions, ...others: readonly never[]): Promise<number | null>
  async countDown(
    options?: LatchRoundOptions,
    ...others: readonly never[]
  ): Promise<number | null> {
    const round = roundOf(options, 'countDown()', others, 'It counts down by one.')
    const isAny = round === undefined
    const state = await this.#latches.change(this.#self, {
      ...COUNTING,
      ask: (request, callMs) => this.#remote.countDown(request, callMs, round),
      // The round of the call is over. Nobody knows since when another round is that was named.
      found: (answer) => answer ?? (isAny ? OPEN : undefined),
    })
    return state?.count ?? (isAny ? 0 : null)
  }

  /**
   * What is left to be counted down; 0 where the latch is open.
   *
   * @throws `RedisUnavailableError` or `RedisRefusedError` when the server was out for `outageMs`; `ClosedError`
   */
  async count(): Promise<number> {
    const look = (callMs: number) => this.#remote.look(callMs)
    return (await this.#latches.ask(this.name, 'not looked at', look)).count
  }

  /**
   * Waits until the latch is open: counted down to zero, deleted, or never set.
   *
   * With `round` it waits until that round is over, and no later one, even when the call is made in a later round.
   *
   * @returns true when it is open, or was since the call, though its count is set anew by now; false when
   * `waitMs` has passed before that
   * @throws the reason of an abort; `RedisUnavailableError` when the server does not answer for `outageMs`, and
   * at the end of `waitMs` where nobody can know by then; `RedisRefusedError`, `ClosedError`, and
   * `InvalidArgumentError` for bad input
   */
  async await(options?: AwaitOptions, ...others: readonly never[]): Promise<boolean> {
    return this.#latches.await(this.#self, this.#remote, awaitArguments(options, others))
  }

  /**
   * Deletes the count. Its awaiters go on, as at zero. A call whose request reaches Redis in the next
   * round deletes nothing, as with {@link countDown}.
   *
   * @param options with `round` it deletes the count of that round, and of no other
   * @returns whether there was a count, and this call deleted it
   * @throws as `countDown` does
   */
  async delete(options?: LatchRoundOptions, ...others: readonly never[]): Promise<boolean> {
    const round = roundOf(options, 'delete()', others)
    return this.#latches.change(this.#self, {
      ...DELETING,
      ask: (request, callMs) => this.#remote.delete(request, callMs, round),
      found: () => (round === undefined ? OPEN : undefined),
    })
  }

  /**
   * Tells what is left, how many clients have somebody who awaits it, and the number of the round.
   *
   * @throws as `count` does
   */
  inspect(): Promise<LatchFacts> {
    const inspect = (callMs: number) => this.#remote.inspect(callMs)
    return this.#latches.ask(this.name, 'not inspected', inspect)
  }
}
