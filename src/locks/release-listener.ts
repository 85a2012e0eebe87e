import type { Listening } from '../redis/wake-ups.ts'
import type { Site } from './site.ts'

/** While the subscription is not confirmed the lock is looked at this often, in milliseconds. */
const POLL_MS = { least: 100, spread: 150 }

/** A lock without an expiry was not made by us; it is looked at this often, in milliseconds. */
const NO_EXPIRY_POLL_MS = 5_000

/** Listens for releases by other clients, while anybody of one contender waits for them. */
export class ReleaseListener {
  readonly #site: Site
  readonly #onWake: () => void
  #listening: Listening | null = null

  constructor(site: Site, onWake: () => void) {
    this.#site = site
    this.#onWake = onWake
  }

  /**
   * How many of the channel's listeners are this one: 1 or 0; -1 where the server counts too few, so
   * that there always seems to be one more.
   */
  get listeners(): number {
    if (!this.#site.context.node.countsListeners) return -1
    return this.#listening?.confirmed ? 1 : 0
  }

  /**
   * Listens from now on. The confirmation wakes as a message does, so that the lock is tried once
   * more when no release can be missed any longer.
   *
   * @param ttlMs what is left of the holder's lease; -1 when it has no expiry
   * @returns how long to wait for a message before looking again, in milliseconds
   */
  listen(ttlMs: number): number {
    this.#listening ??= this.#site.context.node.listen(this.#site.keys, this.#onWake)
    const freeMs = ttlMs >= 0 ? ttlMs + 1 : NO_EXPIRY_POLL_MS
    if (this.#listening.confirmed) return freeMs
    return Math.min(freeMs, POLL_MS.least + Math.random() * POLL_MS.spread)
  }

  close(): void {
    this.#listening?.stop()
    this.#listening = null
  }
}
