import type { HeldLease, Lease } from '../../lease/lease.ts'
import type { Watchable } from '../../local/free-watches.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { awaitOptionsOf } from '../../options/await-options.ts'
import { assertFunction } from '../../options/input.ts'
import type { AwaitOptions, RequestReleaseOptions } from '../../options/options.ts'
import { requestOptionsOf } from '../../options/request-options.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { WaitLimits } from '../../waiting/timed-wait.ts'
import { BaseLock } from './base-lock.ts'

/** What a lock object does about a lock that somebody else holds, without acquiring it. */
export abstract class ContendedLock extends BaseLock<Lease, HeldLease> {
  /** @internal */
  declare readonly registry: LocalLocks
  /** @internal */
  abstract readonly rawName: string

  /**
   * Waits until nobody holds the lock, and does not acquire it: another owner may hold it by the time that this
   * resolves. It is woken by the release, and by the end of the holder's lease. If a message is lost it finds out
   * within 6 s.
   *
   * @returns true if the lock is free; false at the end of `waitMs`. Rejects with `signal.reason` when aborted, with
   * `InvalidArgumentError` for invalid options, with `RedisUnavailableError` or `RedisRefusedError` when Redis was out
   * for `outageMs`, and with `ClosedError` after `close()`
   */
  async whenFree(options?: AwaitOptions): Promise<boolean> {
    return (await this.awaitFree(awaitOptionsOf(options, 'whenFree()', ASK_ONCE))) !== null
  }

  /**
   * Calls the listener each time that the lock becomes free, until the returned function is called or the client is
   * closed. It is a hint: another owner may hold the lock by then, and changes that follow one another within moments
   * may come as one. It is not called for a lock that is free already.
   *
   * @param listener runs in no frame; an error that it throws is an uncaught exception
   * @returns a function that ends it. Failures of Redis are reported by the client's `error` event, once for each outage
   * @throws `InvalidArgumentError` for no function, `ClosedError` after `close()`
   */
  onFree(listener: () => void): () => void {
    assertFunction(listener, 'The listener of onFree()')
    this.registry.assertOpen(this.name)
    return this.registry.freeWatches.listen(this.watchable, listener)
  }

  /**
   * Asks the holder to release the lock soon: its client emits `releaseRequested`, and the signal `releaseRequested` of
   * its leases aborts. Nothing is taken by force, and the holder may ignore it. It takes some round trips, and up to
   * `commandTimeoutMs` if the holder's process does not answer.
   *
   * @returns how many holders have confirmed that they heard it: 0 if nobody holds the lock, or if the holder does not
   * confirm it. Such a holder does not listen, is frozen, cut off, of an older version, or of Redisson. Rejects as
   * {@link inspect} does, and with `InvalidArgumentError` for invalid options
   */
  async requestRelease(options?: RequestReleaseOptions): Promise<number> {
    const { reason, owner } = requestOptionsOf(options)
    const { name, registry } = this
    registry.assertOpen(name)
    const owners = owner === undefined ? await this.holders(NOT_ASKED) : [owner]
    const id = registry.newOwner().newName()
    return registry.revocations.request(id, owners, reason, (send) =>
      registry.ask(name, NOT_ASKED, send),
    )
  }

  /**
   * The owners that hold it.
   *
   * @internal
   */
  protected async holders(failed: string): Promise<string[]> {
    const { holder } = await this.peek(failed)
    return holder === null ? [] : [holder]
  }

  /** @internal */
  abstract peek(failed: string): Promise<HolderFacts>

  /**
   * @returns null if it was not free in time, and otherwise whether it was not free at once
   * @internal
   */
  async awaitFree(limits: WaitLimits): Promise<{ waited: boolean } | null> {
    this.registry.assertOpen(this.name)
    limits.signal?.throwIfAborted()
    return this.registry.freeWatches.wait(this.watchable, limits)
  }

  /** @internal */
  protected get watchable(): Watchable<unknown> {
    const { name, rawName } = this
    const remote = this.registry.server.lock(rawName)
    const watchable: Watchable<HolderFacts> = {
      name,
      watchKey: rawName,
      look: (callMs) => remote.peek(callMs),
      listen: (onWake) => remote.listen(onWake),
      isRelease: () => true,
      readFree: ({ holder, ttlMs }) => ({ isFree: holder === null, ttlMs: ttlMs ?? -1 }),
    }
    return watchable as Watchable<unknown>
  }
}

const NOT_ASKED = 'its holder was not asked to release it'

export const ASK_ONCE = 'To ask once without waiting there is isLocked().'
