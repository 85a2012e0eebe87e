import { WakeEvent } from '../kit/wake-event.ts'
import type { CallFailure } from './call-failure.ts'

/** An owner's name on a lock, not to be used again, of whom nobody knows what Redis has. */
interface PendingRelease {
  /** Ends all that the name has. */
  release(timeoutMs: number): Promise<unknown>
  /** Until when a delayed request could still take the lock, on `performance.now()`. */
  readonly untilMs: number
  /** The longest lease that it could have, in milliseconds. */
  readonly leaseMs: number
}

const LONGEST_PAUSE_MS = 1_000
const CLOSING_PAUSE_MS = 20

/**
 * Sets right what was left open when a reply never came: releases in the background until Redis
 * has confirmed it at a time when no delayed request can undo it, or until the lease has run out
 * by itself. It keeps no process alive; then too the lease ends it.
 */
export class PendingReleases {
  readonly #callMs: number
  readonly #open = new Map<Promise<void>, () => void>()
  #closing = false

  constructor(callMs: number) {
    this.#callMs = callMs
  }

  add(doubt: PendingRelease): void {
    const hurry = new WakeEvent()
    const work = this.#work(doubt, hurry).finally(() => this.#open.delete(work))
    this.#open.set(work, () => hurry.set())
  }

  /** Ends when everything open is settled, or when the node is closed under it. */
  async close(): Promise<void> {
    this.#closing = true
    for (const hurry of this.#open.values()) hurry()
    await Promise.all(this.#open.keys())
  }

  async #work(doubt: PendingRelease, hurry: WakeEvent): Promise<void> {
    const endsByItself = Math.max(doubt.untilMs, performance.now()) + doubt.leaseMs
    for (let pauseMs = 50; performance.now() < endsByItself; ) {
      const sentAt = performance.now()
      try {
        await doubt.release(this.#callMs)
        if (sentAt >= doubt.untilMs) return
        pauseMs = doubt.untilMs - performance.now()
      } catch (failure) {
        if ((failure as CallFailure).permanent) return
        pauseMs = this.#closing ? CLOSING_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
      hurry.reset()
      await hurry.wait(Math.max(1, pauseMs), { keepAlive: this.#closing })
    }
  }
}
