import type { RemoteLock } from '../servers/lock-server.ts'
import type { Subscription } from '../servers/subscription.ts'

/**
 * The pause between checks of the lock while the subscription is not confirmed, in milliseconds.
 */
const POLL_MS = { least: 100, spread: 150 }

/**
 * The longest pause between checks of the lock, in milliseconds. No message reports a deleted key,
 * or a release without a message. The random part spreads the checks of many clients.
 */
const LOOK_MS = { least: 5_000, spread: 1_000 }

/**
 * While a check finds this much of the lease left, or less, the pause doubles each time, in
 * milliseconds.
 */
const SHORT_MS = 5
const LONGEST_SHORT_MS = 128

type Listenable = Pick<RemoteLock, 'listen'> & { readonly listensWith?: object }

interface Host {
  /** Called when the lock may be free. */
  mayBeFree(message?: string): void
}

/** Listens for releases by other clients, while a waiter of one local lock waits for them. */
export class ReleaseListener {
  readonly #host: Host
  #source: object | undefined
  #listening: Subscription | null = null
  #shortMs = 1

  constructor(host: Host) {
    this.#host = host
  }

  /** True if no release can be missed. */
  get isConfirmed(): boolean {
    return this.#listening?.confirmed === true
  }

  get isListening(): boolean {
    return this.#listening !== null
  }

  /**
   * Starts to listen. The confirmation wakes as a message does. The lock is then checked once more,
   * and no later release can be missed.
   *
   * @param remote the verbs of the next waiter, because kinds may use different channels
   * @param ttlMs the rest of the holder's lease in milliseconds; -1 if it has no expiry
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

  /** Slows down the checks if a server always answers that the lease is about to end. */
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

/** The longest wait for a message, in milliseconds. */
export function untilLookMs(): number {
  return LOOK_MS.least + Math.random() * LOOK_MS.spread
}
