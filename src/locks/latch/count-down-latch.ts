import { InvalidArgumentError, show } from '../../errors.ts'
import type { Public } from '../../kit/public.ts'
import { assertNoMore } from '../../options/input.ts'
import type { AwaitOptions } from '../../options/options.ts'
import type { LatchFacts } from '../../servers/answers.ts'
import type { RemoteLatch } from '../../servers/latch-server.ts'
import { awaitArguments } from './await-arguments.ts'
import type { ChangeWords, Latches } from './latches.ts'

const SETTING: ChangeWords = {
  failed: 'its count was not set',
  unknown: 'not known whether its count was set by this call, which may have done it',
}
const COUNTING: ChangeWords = {
  failed: 'not counted down',
  unknown:
    'not known whether it was counted down by this call, which may have done it, and once at most',
}
const DELETING: ChangeWords = {
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
  readonly #rawName: string
  readonly #remote: RemoteLatch
  readonly #latches: Latches

  /** @internal */
  constructor(name: string, rawName: string, remote: RemoteLatch, latches: Latches) {
    this.name = name
    this.#rawName = rawName
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
  async trySetCount(count: number, ...others: unknown[]): Promise<boolean> {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new InvalidArgumentError(
        `Latch ${show(this.name)}: its count must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}; ` +
          `got ${show(count)}.`,
        this.name,
      )
    }
    assertNoMore(others)
    return this.#latches.change(this.name, SETTING, (request, callMs) =>
      this.#remote.trySetCount(count, request, callMs),
    )
  }

  /**
   * Counts down by one, and opens the latch at zero. It counts once, however often the request has to be sent.
   * An open latch stays as it is.
   *
   * @returns what was left right after it, when the server has confirmed it; 0 also where the latch was open
   * @throws `RedisUnavailableError` when it was not confirmed, and then says whether it may have been counted
   * all the same; `RedisRefusedError`, `ClosedError`
   */
  async countDown(...others: unknown[]): Promise<number> {
    assertNoMore(others, 'It counts down by one.')
    return this.#latches.change(this.name, COUNTING, (request, callMs) =>
      this.#remote.countDown(request, callMs),
    )
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
   * @returns true when it is open, or was since the call, though its count is set anew by now; false when
   * `waitMs` has passed before that
   * @throws the reason of an abort; `RedisUnavailableError` when the server does not answer for `outageMs`, and
   * at the end of `waitMs` where nobody can know by then; `RedisRefusedError`, `ClosedError`
   */
  async await(options?: AwaitOptions): Promise<boolean> {
    return this.#latches.await(this.name, this.#rawName, this.#remote, awaitArguments(options))
  }

  /**
   * Deletes the count. Whoever awaits the latch goes on, as at zero.
   *
   * @returns whether there was a count
   * @throws as `countDown` does
   */
  async delete(): Promise<boolean> {
    return this.#latches.change(this.name, DELETING, (request, callMs) =>
      this.#remote.delete(request, callMs),
    )
  }

  /**
   * What is left, and how many clients have somebody who awaits it.
   *
   * @throws as `count` does
   */
  inspect(): Promise<LatchFacts> {
    const inspect = (callMs: number) => this.#remote.inspect(callMs)
    return this.#latches.ask(this.name, 'not inspected', inspect)
  }
}
