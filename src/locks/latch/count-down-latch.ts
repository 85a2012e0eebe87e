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
  unknown: 'it is unknown if this call set its count',
}
const COUNTING = {
  failed: 'not counted down',
  unknown: 'this call may have counted it down once, or not at all',
}
const DELETING = {
  failed: 'not deleted',
  unknown: 'it is unknown if this call deleted it',
}

/**
 * A latch that many callers await, like Redisson's `RCountDownLatch` of that name. It opens when its count reaches
 * zero. A latch whose count was never set, or was deleted, is open. The count of an open latch can be set again: that
 * starts another round.
 *
 * A latch object holds nothing itself and costs nothing. Create one wherever you need it.
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
   * Sets the count of an open latch.
   *
   * @param count at least 1
   * @returns true if this call set the count; false if the latch already has a count, which does not change
   * @throws `InvalidArgumentError` for an invalid count. `RedisUnavailableError` if Redis did not confirm the count;
   * the message says if the count may have been set. `RedisRefusedError`, `ClosedError`
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
   * Counts down by one, and opens the latch at zero. It counts once, even when the client has to send the request
   * again. An open latch stays as it is.
   *
   * A call counts in the round in which it was made. If the request reaches Redis in the next round, the call counts
   * nothing and returns 0. Redis decides this by the time of the call. The client estimates that time on the server's
   * clock, mostly within a millisecond. With `round` nothing depends on clocks.
   *
   * @returns the count after this call, once the server has confirmed the call. 0 means that the round is over, ended
   * by this call or earlier
   * @throws `RedisUnavailableError` if Redis did not confirm it; the message says if it may have been counted.
   * `RedisRefusedError`, `ClosedError`
   */
  countDown(): Promise<number>
  /**
   * Counts down by one, but only if `round` is the current round.
   *
   * @returns the count after this call; null if the round was already over, so nothing was counted
   * @throws as without a round; `InvalidArgumentError` if `round` is not the number of a round
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
      // Null means that the round of the call is over. Without `round`, the awaiters then see an
      // open latch. A round that the caller named may have ended before these awaiters began, so
      // they ignore the answer.
      found: (answer) => answer ?? (isAny ? OPEN : undefined),
    })
    return state?.count ?? (isAny ? 0 : null)
  }

  /**
   * Returns the count; 0 if the latch is open.
   *
   * @throws `RedisUnavailableError` or `RedisRefusedError` if the server was down for `outageMs`; `ClosedError`
   */
  async count(): Promise<number> {
    const look = (callMs: number) => this.#remote.look(callMs)
    return (await this.#latches.ask(this.name, 'its count was not read', look)).count
  }

  /**
   * Waits until the latch is open: counted down to zero, deleted, or never set.
   *
   * With `round` it waits for the end of that round only, even when the call is made in a later round.
   *
   * @returns true if the latch is open, or was open at some time since the call. False if `waitMs` passed before that
   * @throws the reason of an abort. `RedisUnavailableError` if the server does not answer for `outageMs`, or if the
   * state is unknown at the end of `waitMs`. `RedisRefusedError`, `ClosedError`, and `InvalidArgumentError` for
   * invalid input
   */
  async await(options?: AwaitOptions, ...others: readonly never[]): Promise<boolean> {
    return this.#latches.await(this.#self, this.#remote, awaitArguments(options, others))
  }

  /**
   * Deletes the count. Its waiters continue, as at zero. If the request reaches Redis in the next round, it deletes
   * nothing, as with {@link countDown}.
   *
   * @param options with `round` it deletes the count of that round only
   * @returns true if this call deleted a count
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
   * Returns the count, the number of clients that await the latch, and the number of the round.
   *
   * @throws as `count` does
   */
  inspect(): Promise<LatchFacts> {
    const inspect = (callMs: number) => this.#remote.inspect(callMs)
    return this.#latches.ask(this.name, 'not inspected', inspect)
  }
}
