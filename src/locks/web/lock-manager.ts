import type { Lease } from '../../lease/lease.ts'
import type { OwnerHandle } from '../../owner/owner.ts'
import type { Lock } from '../lock/holdfast-lock.ts'
import type { ReadWriteLock } from '../read-write/read-write-lock.ts'
import {
  type WebLock,
  type WebLockMode,
  type WebLockOptions,
  type WebLockRequest,
  webLockRequest,
} from './lock-request.ts'

/** One lock in the result of `locks.query()`. */
export interface WebLockInfo {
  readonly name: string
  readonly mode: WebLockMode
  /** The id of this client. */
  readonly clientId: string
}

/** The result of `locks.query()`. */
export interface WebLockSnapshot {
  readonly held: WebLockInfo[]
  readonly pending: WebLockInfo[]
}

/** The parts of a client that its web locks use. */
interface WebLockClient {
  readonly id: string
  owner(): OwnerHandle
  getReadWriteLock(name: string, options: { owner: OwnerHandle }): ReadWriteLock
}

/**
 * The Web Locks API of browsers, Deno and Node.js, over all processes. Each web lock is the read-write lock of its name.
 * So it has a lease, which the client renews until the callback ends.
 *
 * @see https://w3c.github.io/web-locks/
 */
export class LockManager {
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
  request<T>(name: string, callback: (lock: WebLock | null) => T): Promise<Awaited<T>>
  request<T>(
    name: string,
    options: WebLockOptions,
    callback: (lock: WebLock | null) => T,
  ): Promise<Awaited<T>>
  async request<T>(
    name: string,
    optionsOrCallback: WebLockOptions | ((lock: WebLock | null) => T),
    callback?: (lock: WebLock | null) => T,
  ): Promise<Awaited<T>> {
    const request = webLockRequest<T>(name, optionsOrCallback, callback)
    const { mode, ifAvailable, steal, signal } = request
    const owner = this.#client.owner()
    const lock = this.#client.getReadWriteLock(request.name, { owner })
    const side = mode === 'shared' ? lock.readLock() : lock.writeLock()
    signal?.throwIfAborted()
    const call = new WebLockCall(request, { name: request.name, mode, clientId: this.#client.id })
    this.#pending.add(call)
    const work = (lease: Lease) => {
      this.#pending.delete(call)
      this.#held.add(call)
      return call.run(lease)
    }
    try {
      if (steal) return await call.release(await steals(lock, side), work)
      if (ifAvailable) {
        const outcome = await side.tryUsing(async (lease) => ({ result: await work(lease) }))
        if (outcome !== null) return outcome.result
        this.#pending.delete(call)
        return await request.callback(null)
      }
      return await side.using(work, { waitMs: Infinity, ...(signal && { signal }) })
    } catch (error) {
      throw call.loss ?? error
    } finally {
      this.#pending.delete(call)
      this.#held.delete(call)
    }
  }

  /** Returns the web locks that this client holds or waits for. The locks of other clients are not included. */
  async query(): Promise<WebLockSnapshot> {
    const infoOf = ({ info }: WebLockCall<unknown>) => info
    return { held: [...this.#held].map(infoOf), pending: [...this.#pending].map(infoOf) }
  }
}

/** One call of `request`. */
class WebLockCall<T> {
  readonly info: WebLockInfo
  readonly #request: WebLockRequest<T>
  /** The error for the caller if the lock was lost. */
  loss: DOMException | undefined

  constructor(request: WebLockRequest<T>, info: WebLockInfo) {
    this.#request = request
    this.info = info
  }

  /** Runs the callback. Rejects at once if the lease is lost. */
  run({ signal }: Lease): Promise<Awaited<T>> {
    const { name, mode } = this.info
    const isLost = new Promise<never>((_, reject) => {
      const lost = () => {
        const text = `The web lock "${name}" was lost or stolen before its callback ended.`
        this.loss = Object.assign(new DOMException(text, 'AbortError'), { cause: signal.reason })
        reject(this.loss)
      }
      if (signal.aborted) lost()
      else signal.addEventListener('abort', lost, { once: true })
    })
    isLost.catch(() => undefined)
    const result = (async () => this.#request.callback({ name, mode }))()
    return Promise.race([result, isLost])
  }

  /** Runs `work` with a lease, and releases the lease. */
  async release<R>(lease: Lease, work: (lease: Lease) => Promise<R>): Promise<R> {
    try {
      return await work(lease)
    } finally {
      if (this.loss === undefined) await lease.release()
    }
  }
}

/** Takes the lock from its holders. If another call gets the lock in between, it loses the lock too. */
async function steals(lock: ReadWriteLock, side: Lock): Promise<Lease> {
  for (;;) {
    const lease = await side.tryLock()
    if (lease !== null) return lease
    await Promise.all([lock.readLock().forceUnlock(), side.forceUnlock()])
  }
}
