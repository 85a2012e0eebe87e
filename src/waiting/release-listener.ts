import type { Hint } from '../servers/hint.ts'
import type { Subscription } from '../servers/subscription.ts'

/**
 * The pause between two checks while the subscription is not confirmed: `least` milliseconds plus a
 * random part of `spread` milliseconds.
 */
const POLL_MS = { least: 100, spread: 150 }

/**
 * The longest pause between two checks: `least` milliseconds plus a random part of `spread`
 * milliseconds. A check notices a deleted key, and a release if its message was lost. The random
 * part spreads the checks of many clients.
 */
const CHECK_MS = { least: 5_000, spread: 1_000 }

/**
 * A lease is about to end if it ends within this many milliseconds. While consecutive checks find
 * such a lease, each pause is twice as long as the last pause.
 */
const SHORT_MS = 5
/**
 * The longest pause while consecutive checks find a lease that is about to end, in milliseconds.
 */
const LONGEST_SHORT_MS = 128

interface Listenable<H> {
  readonly listensWith?: object
  listen(onHint: (hint?: H) => void): Subscription
}

interface FreeEvents<H> {
  /** Called when the lock may be free. `hint` is `MISSED` or undefined if hints may have been missed. */
  mayBeFree(hint?: H): void
}

/**
 * Listens for releases of one lock, while a waiter or a free watch of this client needs the lock.
 */
export class ReleaseListener<H = Hint> {
  readonly #host: FreeEvents<H>
  #source: object | undefined
  #listening: Subscription | null = null
  #shortMs = 1

  constructor(host: FreeEvents<H>) {
    this.#host = host
  }

  /**
   * True if the server has confirmed the subscription. The client then receives a message when a
   * release may let its waiter acquire the lock.
   */
  get isConfirmed(): boolean {
    return this.#listening?.confirmed === true
  }

  get isListening(): boolean {
    return this.#listening !== null
  }

  /**
   * Subscribes, unless this object already has the same subscription. When the server confirms the
   * subscription, the waiter wakes and checks the lock once more. A release before the confirmation
   * sent this client no message.
   *
   * @param remote the requests of the next waiter. Each kind of lock may use its own channel
   * @param ttlMs the remaining lease of the holder in milliseconds; Infinity if the lease never
   * expires
   * @returns the longest wait for a message before the next check, in milliseconds
   */
  listen(remote: Listenable<H>, ttlMs: number): number {
    const source = remote.listensWith ?? remote
    if (source !== this.#source) {
      this.#listening?.stop()
      this.#listening = null
      this.#source = source
    }
    this.#listening ??= remote.listen((hint) => this.#host.mayBeFree(hint))
    const freeMs = Math.min(ttlMs === Infinity ? ttlMs : this.#untilFree(ttlMs), untilCheckMs())
    if (this.#listening.confirmed) return freeMs
    return Math.min(freeMs, POLL_MS.least + Math.random() * POLL_MS.spread)
  }

  /**
   * Returns the pause until the lease ends, in milliseconds. While consecutive answers report a
   * lease that is about to end, each pause is longer than the last pause.
   */
  #untilFree(ttlMs: number): number {
    this.#shortMs = ttlMs > SHORT_MS ? 1 : Math.min(this.#shortMs * 2, LONGEST_SHORT_MS)
    return Math.max(ttlMs + 1, this.#shortMs - 1)
  }

  stopListening(): void {
    this.#shortMs = 1
    this.#listening?.stop()
    this.#listening = null
  }
}

/** Returns the longest pause before the next check, in milliseconds, with a new random part. */
export function untilCheckMs(): number {
  return CHECK_MS.least + Math.random() * CHECK_MS.spread
}
