import type { Public } from '../../kit/public.ts'
import { show } from '../../kit/show.ts'
import { assertNoMore, wholeNumber } from '../../options/input.ts'
import type { AwaitOptions, LatchRoundOptions } from '../../options/options.ts'
import type { LatchFacts } from '../../servers/facts.ts'
import { OPEN, type RemoteLatch } from '../../servers/latch-server.ts'
import { awaitArguments, roundToCountDown, roundToDelete } from './latch-arguments.ts'
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
 * A latch that many callers await. Redisson has the same latch as `RCountDownLatch`. The latch opens when its count
 * reaches zero. It is also open if its count was never set or was deleted. A new count of an open latch starts another
 * round.
 *
 * A latch object has no state in Redis, so you can create one wherever you need it.
 */
export interface CountDownLatch extends Public<HoldfastCountDownLatch> {}

/** The object behind a {@link CountDownLatch}. */
export class HoldfastCountDownLatch {
  /** The name that `getCountDownLatch` received. */
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
   * @returns true if this call set the count; false if the latch already has a count, and the count stays as it is
   * @throws `InvalidArgumentError` for an invalid count. `RedisUnavailableError` if Redis did not confirm the count;
   * the message says if the count may have been set. `RedisRefusedError`, `ClosedError`
   */
  async trySetCount(count: number, ...others: readonly never[]): Promise<boolean> {
    const what = `Latch ${show(this.name)}: its count`
    wholeNumber(count, what, 1, Number.MAX_SAFE_INTEGER, this.name)
    assertNoMore(others)
    return this.#latches.change(this.#self, {
      ...SETTING,
      send: (request, callMs) => this.#remote.trySetCount(count, request, callMs),
      found: (isSet) => (isSet ? OPEN : undefined),
    })
  }

  /**
   * Counts down by one, and opens the latch at zero. The call counts once, even when the client has to send the request
   * again. An open latch stays as it is.
   *
   * A call counts in the round in which it was made. If the request reaches Redis in the next round, the call does not
   * count, and returns 0. To find the round, the client estimates the time of the call on the server's clock, usually
   * within a millisecond. With `round`, the result does not depend on clocks.
   *
   * @returns the count after this call, when the server has confirmed the call. 0 means that the round has ended
   * @throws `RedisUnavailableError` if Redis did not confirm the call; the message says if the call may have been
   * counted. `RedisRefusedError`, `ClosedError`
   */
  countDown(): Promise<number>
  /**
   * Counts down by one, but only if `round` is the current round.
   *
   * @returns the count after this call. Null if the round had already ended, and this call did not count
   * @throws the errors of `countDown()` without options. Also `InvalidArgumentError` if `round` is not the number of a
   * round
   */
  countDown(options: LatchRoundOptions, ...others: readonly never[]): Promise<number | null>
  async countDown(
    options?: LatchRoundOptions,
    ...others: readonly never[]
  ): Promise<number | null> {
    const round = roundToCountDown(options, others)
    const isAny = round === undefined
    const state = await this.#latches.change(this.#self, {
      ...COUNTING,
      send: (request, callMs) => this.#remote.countDown(request, callMs, round),
      // Null means that the round of the call has ended. Without `round`, the awaiters then see an open latch. With
      // `round`, the awaiters ignore the answer, because the round may have ended before they began.
      found: (answer) => answer ?? (isAny ? OPEN : undefined),
    })
    return state?.count ?? (isAny ? 0 : null)
  }

  /**
   * Returns the count of the latch; 0 if the latch is open.
   *
   * @throws `RedisUnavailableError` or `RedisRefusedError` if the server was down for `outageMs`; `ClosedError`
   */
  async count(): Promise<number> {
    const read = (callMs: number) => this.#remote.read(callMs)
    return (await this.#latches.request(this.name, 'its count was not read', read)).count
  }

  /**
   * Waits until the latch is open: its count is zero, was deleted, or was never set.
   *
   * With `round`, the call waits only for the end of this round, and not for the end of a later
   * round.
   *
   * @returns true if the latch is open, or was open at some time since the call. False if `waitMs`
   * passed first
   * @throws the reason of an abort. `RedisUnavailableError` if the server does not answer for
   * `outageMs`, or if the state is unknown at the end of `waitMs`. `RedisRefusedError`,
   * `ClosedError`, and `InvalidArgumentError` for invalid input
   */
  async await(options?: AwaitOptions, ...others: readonly never[]): Promise<boolean> {
    return this.#latches.await(this.#self, this.#remote, awaitArguments(options, others))
  }

  /**
   * Deletes the count. The latch is then open, and its waiters continue. A request that reaches Redis in the next round
   * deletes nothing, as with {@link countDown}.
   *
   * @param options with `round`, the call deletes only the count of this round
   * @returns true if this call deleted a count
   * @throws as `countDown` does
   */
  async delete(options?: LatchRoundOptions, ...others: readonly never[]): Promise<boolean> {
    const round = roundToDelete(options, others)
    return this.#latches.change(this.#self, {
      ...DELETING,
      send: (request, callMs) => this.#remote.delete(request, callMs, round),
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
    return this.#latches.request(this.name, 'not inspected', inspect)
  }
}
