import type { RemoteLock } from '../servers/lock-server.ts'
import type { Subscription } from '../servers/subscription.ts'

/**
 * The pause between checks of the lock while the subscription is not confirmed, in milliseconds:
 * `least` plus a random part of `spread`.
 */
const POLL_MS = { least: 100, spread: 150 }

/**
 * The longest pause between checks of the lock, in milliseconds: `least` plus a random part of
 * `spread`. A check finds a key that was deleted, and a release without a message. The random part
 * spreads the checks of many clients.
 */
const LOOK_MS = { least: 5_000, spread: 1_000 }

/**
 * While each check finds a lease with this little time left, the pause doubles after each check, up
 * to `LONGEST_SHORT_MS`. In milliseconds.
 */
const SHORT_MS = 5
const LONGEST_SHORT_MS = 128

type Listenable = Pick<RemoteLock, 'listen'> & { readonly listensWith?: object }

interface Host {
  /** Called when the lock may be free. */
  mayBeFree(message?: string): void
}

/** Listens for releases by other clients, while a waiter of one local lock needs the lock. */
export class ReleaseListener {
  readonly #host: Host
  #source: object | undefined
  #listening: Subscription | null = null
  #shortMs = 1

  constructor(host: Host) {
    this.#host = host
  }

  /** True if the subscription is confirmed, so that no release is missed. */
  get isConfirmed(): boolean {
    return this.#listening?.confirmed === true
  }

  get isListening(): boolean {
    return this.#listening !== null
  }

  /**
   * Starts to listen. The confirmation of the subscription wakes the waiter, as a message does. So
   * the lock is checked once more, and no later release is missed.
   *
   * @param remote the requests of the next waiter's kind, because kinds may use different channels
   * @param ttlMs the remaining lease of the holder in milliseconds; -1 if the lease has no expiry
   * @returns how long to wait for a message before the next check, in milliseconds
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

  /**
   * Returns the pause until the lease ends. If a server always answers that the lease is about to
   * end, the pause grows.
   */
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

/** Returns the longest wait for a message before the next check, in milliseconds. */
export function untilLookMs(): number {
  return LOOK_MS.least + Math.random() * LOOK_MS.spread
}
