import type { RemoteLock } from '../servers/lock-server.ts'
import type { Subscription } from '../servers/subscription.ts'

/** While the subscription is not confirmed the lock is looked at this often, in milliseconds. */
const POLL_MS = { least: 100, spread: 150 }

/**
 * The lock is looked at this often whatever the lease, in milliseconds: of a key that is deleted, or released
 * without a message, no waiter hears. Not by all clients at once.
 */
const LOOK_MS = { least: 5_000, spread: 1_000 }

/** A lock that was found to be held for no longer than this is looked at later each time. */
const SHORT_MS = 5
const LONGEST_SHORT_MS = 128

type Listenable = Pick<RemoteLock, 'listen'> & { readonly listensWith?: object }

/** Whose waiters they are. */
interface Host {
  /** It is worth looking at the lock. */
  mayBeFree(message?: string): void
}

/** Listens for releases by other clients, while anybody of one local lock waits for them. */
export class ReleaseListener {
  readonly #host: Host
  #source: object | undefined
  #listening: Subscription | null = null
  #shortMs = 1

  constructor(host: Host) {
    this.#host = host
  }

  /** Whether no release can be missed. */
  get isConfirmed(): boolean {
    return this.#listening?.confirmed === true
  }

  get isListening(): boolean {
    return this.#listening !== null
  }

  /**
   * Listens from now on. The confirmation wakes as a message does, so that the lock is tried once
   * more when no release can be missed any longer.
   *
   * @param remote what the next one who waits asks: other kinds may be told by other channels
   * @param ttlMs what is left of the holder's lease; -1 when it has no expiry
   * @returns how long to wait for a message before looking again, in milliseconds
   */
  listen(remote: Listenable, ttlMs: number): number {
    const source = remote.listensWith ?? remote
    if (source !== this.#source) {
      this.#listening?.stop()
      this.#listening = null
      this.#source = source
    }
    this.#listening ??= remote.listen((message) => this.#host.mayBeFree(message))
    const freeMs = Math.min(ttlMs >= 0 ? this.#untilFree(ttlMs) : Infinity, untilLookMs())
    if (this.#listening.confirmed) return freeMs
    return Math.min(freeMs, POLL_MS.least + Math.random() * POLL_MS.spread)
  }

  /** A server that says for ever that there is nothing left of a lease is not asked for ever. */
  #untilFree(ttlMs: number): number {
    this.#shortMs = ttlMs > SHORT_MS ? 1 : Math.min(this.#shortMs * 2, LONGEST_SHORT_MS)
    return Math.max(ttlMs + 1, this.#shortMs - 1)
  }

  close(): void {
    this.#shortMs = 1
    this.#listening?.stop()
    this.#listening = null
  }
}

/** How long to wait for a message at most, in milliseconds. */
export function untilLookMs(): number {
  return LOOK_MS.least + Math.random() * LOOK_MS.spread
}
