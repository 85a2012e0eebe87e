import type { Lease } from '../../lease/lease.ts'
import type { LockOptions } from '../../options/options.ts'
import type { OwnerHandle } from '../../owner/owner.ts'
import { WebLockCall, type WebLockInfo } from './web-lock-call.ts'
import { type WebLock, type WebLockOptions, webLockRequest } from './web-lock-request.ts'

/** The result of `locks.query()`. */
export interface WebLocks {
  readonly held: WebLockInfo[]
  readonly pending: WebLockInfo[]
}

/** The read lock or the write lock of a read-write lock. */
interface WebLockSide {
  using<T>(work: (lease: Lease) => Promise<T>, options: LockOptions): Promise<T>
  tryUsing<T>(work: (lease: Lease) => Promise<T>): Promise<T | null>
  forceUnlock(): Promise<boolean>
}

interface WebLockSides {
  readLock(): WebLockSide
  writeLock(): WebLockSide
}

/** The parts of a client that its web locks use. */
interface WebLockClient {
  readonly id: string
  owner(): OwnerHandle
  getReadWriteLock(name: string, options: { owner: OwnerHandle }): WebLockSides
}

/**
 * The Web Locks API of browsers, Deno and Node.js, over all processes. Each web lock is the read-write lock of its name.
 * So it has a lease, which the client renews until the callback ends.
 *
 * @see https://w3c.github.io/web-locks/
 */
export class WebLockManager {
  readonly #client: WebLockClient
  readonly #held = new Set<WebLockCall<unknown>>()
  readonly #pending = new Set<WebLockCall<unknown>>()

  /** @internal */
  constructor(client: WebLockClient) {
    this.#client = client
  }

  /**
   * Requests a lock, and calls the callback while this call holds the lock. The lock is released when the promise of the
   * callback settles. A nested call for the same lock waits for itself, as in a browser.
   *
   * @returns the result of the callback. Rejects with the error of the callback, and with `signal.reason`. Rejects with
   * a `DOMException` with the name `AbortError` if the lock was lost or stolen, and `cause` has the loss. Rejects with
   * `TypeError` or a `NotSupportedError` for invalid input, and with the errors of a read-write lock, such as
   * `RedisUnavailableError` and `ClosedError`
   */
  request<T>(name: string, work: (lock: WebLock | null) => T): Promise<Awaited<T>>
  request<T>(
    name: string,
    options: WebLockOptions,
    work: (lock: WebLock | null) => T,
  ): Promise<Awaited<T>>
  async request<T>(
    name: string,
    optionsOrWork: WebLockOptions | ((lock: WebLock | null) => T),
    workIfOptions?: (lock: WebLock | null) => T,
  ): Promise<Awaited<T>> {
    const request = webLockRequest<T>(name, optionsOrWork, workIfOptions)
    const { mode, ifAvailable, steal, signal } = request
    const owner = this.#client.owner()
    const lock = this.#client.getReadWriteLock(request.name, { owner })
    const side = mode === 'shared' ? lock.readLock() : lock.writeLock()
    signal?.throwIfAborted()
    const call = new WebLockCall(request, { name: request.name, mode, clientId: this.#client.id })
    this.#pending.add(call)
    const run = (lease: Lease) => {
      this.#pending.delete(call)
      this.#held.add(call)
      return call.run(lease)
    }
    try {
      if (steal || ifAvailable) {
        const tryOnce = () => side.tryUsing(async (lease) => ({ result: await run(lease) }))
        let outcome = await tryOnce()
        while (outcome === null && steal) {
          // Another call may get the lock before the next try, and then loses the lock too.
          await Promise.all([lock.readLock().forceUnlock(), side.forceUnlock()])
          outcome = await tryOnce()
        }
        if (outcome !== null) return outcome.result
        this.#pending.delete(call)
        return await request.work(null)
      }
      return await side.using(run, { waitMs: Infinity, ...(signal && { signal }) })
    } catch (error) {
      throw call.lossWith(error)
    } finally {
      this.#pending.delete(call)
      this.#held.delete(call)
    }
  }

  /** Returns the web locks that this client holds or waits for. The locks of other clients are not included. */
  async query(): Promise<WebLocks> {
    const infoOf = ({ info }: WebLockCall<unknown>) => info
    return { held: [...this.#held].map(infoOf), pending: [...this.#pending].map(infoOf) }
  }
}
