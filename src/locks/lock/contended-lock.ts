import type { HeldLease, Lease } from '../../lease/lease.ts'
import type { Watchable } from '../../local/free-watches.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { assertFunction } from '../../options/input.ts'
import type { RequestReleaseOptions, WhenFreeOptions } from '../../options/options.ts'
import type { HolderFacts } from '../../servers/facts.ts'
import type { WaitLimits } from '../../waiting/timed-wait.ts'
import { BaseLock } from './base-lock.ts'
import { requestOptions, whenFreeOptions } from './contended-options.ts'

/**
 * The methods of a lock object that are useful while another owner holds the lock. None of these methods acquires the
 * lock.
 */
export abstract class ContendedLock extends BaseLock<Lease, HeldLease> {
  /** @internal */
  declare readonly registry: LocalLocks
  /** @internal */
  abstract readonly rawName: string

  /**
   * Waits until the lock is free, and does not acquire the lock. Another owner may already hold the lock when the
   * promise resolves. A release or the end of the holder's lease wakes the caller. If the message of a release is lost,
   * a check finds the free lock within 6 s.
   *
   * @returns true if the lock is free; false at the end of `waitMs`. Rejects with `signal.reason` when aborted, and
   * with `InvalidArgumentError` for invalid options. Rejects with `RedisUnavailableError` or `RedisRefusedError` if
   * Redis was down for `outageMs`, and with `ClosedError` after `close()`
   */
  async whenFree(options?: WhenFreeOptions): Promise<boolean> {
    return (await this.awaitFree(whenFreeOptions(options))) !== null
  }

  /**
   * Calls the listener each time the lock becomes free, until you call the returned function or close the client. A
   * lock that is free from the start causes no call. Several changes in a short time may cause one call. When the
   * listener runs, another owner may already hold the lock.
   *
   * @param listener runs outside all frames. An error that the listener throws is an uncaught exception
   * @returns a function that removes the listener. The client's `error` event reports failures of Redis, once per
   * outage
   * @throws `InvalidArgumentError` if `listener` is not a function, `ClosedError` after `close()`
   */
  onFree(listener: () => void): () => void {
    assertFunction(listener, 'The listener of onFree()')
    this.registry.assertOpen(this.name)
    return this.registry.freeWatches.onFree(this.watchable, listener)
  }

  /**
   * Asks the holder to release the lock soon. The holder's client emits `releaseRequested`, and the signal
   * `releaseRequested` of the holder's leases aborts. The holder keeps the lock and may ignore the request. The call
   * takes a few round trips. If the holder's process does not answer, the call waits up to `commandTimeoutMs` for the
   * answer.
   *
   * @returns how many holders confirmed the request. 0 if the lock is free, or if no holder
   * confirms. A holder does not confirm if it has no listener, is frozen or cut off, or runs an
   * older version or Redisson. Rejects as {@link inspect} does, and with `InvalidArgumentError` for
   * invalid options
   */
  async requestRelease(options?: RequestReleaseOptions): Promise<number> {
    const { reason, owner } = requestOptions(options)
    const { name, registry } = this
    registry.assertOpen(name)
    const owners = owner === undefined ? await this.holders(NOT_ASKED) : [owner]
    const id = registry.newOwner().newOwnerId()
    return registry.revocations.request(id, owners, reason, (send) =>
      registry.request(name, NOT_ASKED, send),
    )
  }

  /**
   * Returns the owner ids of the holders, according to the server.
   *
   * @param failed words for the error of an outage, such as `not inspected`
   * @internal
   */
  protected async holders(failed: string): Promise<string[]> {
    const { holder } = await this.peek(failed)
    return holder === null ? [] : [holder]
  }

  /** @internal */
  abstract peek(failed: string): Promise<HolderFacts>

  /**
   * Waits until the lock is free.
   *
   * @returns null if the lock was not free in time. Otherwise `waited` is false if the first check
   * found the lock free
   * @internal
   */
  async awaitFree(limits: WaitLimits): Promise<{ waited: boolean } | null> {
    this.registry.assertOpen(this.name)
    limits.signal?.throwIfAborted()
    return this.registry.freeWatches.whenFree(this.watchable, limits)
  }

  /** @internal */
  protected get watchable(): Watchable<unknown> {
    const { name, rawName } = this
    const remote = this.registry.server.lock(rawName)
    const watchable: Watchable<HolderFacts> = {
      name,
      watchKey: rawName,
      read: async (callMs) => {
        const facts = await remote.peek(callMs)
        if (facts.holder !== null) this.registry.revocations.watches(rawName, facts.holder)
        return facts
      },
      listen: (onHint) => remote.listen(onHint),
      isRelease: () => true,
      readFree: ({ holder, ttlMs }) => ({ isFree: holder === null, ttlMs: ttlMs ?? Infinity }),
    }
    return watchable as Watchable<unknown>
  }
}

const NOT_ASKED = 'its holder was not asked to release it'
