import { type Clock, pause, type Timer } from '../kit/clock.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Subscription } from '../servers/subscription.ts'
import type { FreeWatcher, Seen } from './free-watchers.ts'
import { ReleaseListener, untilLookMs } from './release-listener.ts'
import { OpenRequest, ServerHealth } from './server-health.ts'

/** After a failure that ended one wait, the others ask again, in milliseconds. */
const AFTER_FAILURE_MS = 250

/**
 * A lock may be let go and taken all the time. After so many looks in quick succession each pauses for longer before
 * the next, in milliseconds.
 */
const BUSY = { looks: 8, longestMs: 64, calmMs: 250 }

/** Where a lock lives, as one who does not acquire it sees it. */
export interface Watched<S> {
  look(callMs: number): Promise<S>
  /** As `RemoteLock` has it. */
  listen(onWake: (message?: string) => void): Subscription
}

/**
 * All of one client who want to know when one lock is free. They share one subscription and each look. A message is
 * a hint to look; what the server answers decides.
 */
export class FreeWatch<S> {
  readonly health: ServerHealth
  readonly #watched: Watched<S>
  readonly #clock: Clock
  readonly #ended: () => void
  readonly #all = new Set<FreeWatcher<S>>()
  readonly #listener: ReleaseListener
  #isLooking = false
  /** Whether there is reason for another look as soon as the present one is answered. */
  #looksAgain = false
  /** What came since the last look. */
  #messages = new Set<string>()
  #lookedAt = -Infinity
  #looksInARow = 0
  #timer: Timer | undefined

  /** @param ended called when nobody watches any more */
  constructor(watched: Watched<S>, clock: Clock, ended: () => void) {
    this.health = new ServerHealth(clock)
    this.#watched = watched
    this.#clock = clock
    this.#ended = ended
    this.#listener = new ReleaseListener({ mayBeFree: () => this.look() })
  }

  /** Whether no release can be missed. */
  get isConfirmed(): boolean {
    return this.#listener.isConfirmed
  }

  add(watcher: FreeWatcher<S>): void {
    this.#all.add(watcher)
    this.look()
  }

  settled(watcher: FreeWatcher<S>): void {
    if (!this.#all.delete(watcher) || this.#all.size > 0) return
    this.#clock.clear(this.#timer)
    this.#listener.close()
    this.#ended()
  }

  rejectAll(reason: Error): void {
    for (const watcher of [...this.#all]) watcher.reject(reason)
  }

  look(): void {
    this.#looksAgain = true
    if (this.#isLooking) return
    this.#isLooking = true
    this.#clock.clear(this.#timer)
    void this.#lookWhileNeeded()
  }

  async #lookWhileNeeded(): Promise<void> {
    let waitMs = 0
    do {
      // Calls of one turn of the event loop share the first look.
      await Promise.resolve()
      const pauseMs = this.#nextPauseMs()
      if (pauseMs > 0) await pause(this.#clock, pauseMs)
      this.#lookedAt = this.#clock.monotonic()
      this.#looksAgain = false
      waitMs = this.#all.size > 0 ? await this.#look() : 0
    } while (this.#looksAgain && this.#all.size > 0)
    this.#isLooking = false
    if (this.#all.size === 0) return
    this.#timer = this.#clock.after(waitMs, () => this.look())
    if (!this.#isWaitedFor) this.#timer.unref()
  }

  #nextPauseMs(): number {
    const sinceMs = this.#clock.monotonic() - this.#lookedAt
    this.#looksInARow = sinceMs > BUSY.calmMs ? 0 : this.#looksInARow + 1
    if (this.#looksInARow <= BUSY.looks) return 0
    const wantedMs = Math.min(2 ** (this.#looksInARow - BUSY.looks), BUSY.longestMs)
    return Math.max(0, wantedMs - sinceMs)
  }

  /** @returns how long to wait for a message before the next look, in milliseconds */
  async #look(): Promise<number> {
    // A watcher that comes after the request was sent needs another look.
    const asking = [...this.#all]
    const { retryBudget } = asking[0] as FreeWatcher<S>
    const messages = this.#messages
    this.#messages = new Set()
    const sent = this.health.sent(new OpenRequest(this.#clock.now()))
    let state: S
    try {
      state = await this.#watched.look(retryBudget.callMs)
    } catch (error) {
      for (const message of messages) this.#messages.add(message)
      if (error instanceof CallFailure) return this.#failed(error, sent.sentAt.monotonic)
      this.rejectAll(error as Error)
      return AFTER_FAILURE_MS
    } finally {
      sent.close()
    }
    retryBudget.answered(sent.sentAt.monotonic)
    const seen = asking.map((watcher) => watcher.saw(state, messages))
    return this.#all.size === 0 ? 0 : this.#listen(seen)
  }

  #failed(failure: CallFailure, sentAt: number): number {
    const [first] = this.#all
    const pauseMs = first?.retryBudget.failed(failure, sentAt) ?? null
    for (const watcher of [...this.#all]) {
      const { retryBudget } = watcher
      if (retryBudget.isUsedUp || (pauseMs === null && watcher === first)) {
        watcher.reject(retryBudget.error('no longer watched'))
      }
    }
    if (pauseMs !== null) return pauseMs
    // Listeners go on after each failure, even after one that stays.
    return this.#isWaitedFor ? AFTER_FAILURE_MS : untilLookMs()
  }

  /** Whether any call waits, and not only listeners. */
  get #isWaitedFor(): boolean {
    return [...this.#all].some(({ keepsAlive }) => keepsAlive)
  }

  #listen(seen: readonly Seen[]): number {
    const listen = (onWake: () => void) =>
      this.#watched.listen((message) => {
        if (message !== undefined) this.#messages.add(message)
        onWake()
      })
    const ttls = seen.flatMap(({ isFree, ttlMs }) => (isFree || ttlMs < 0 ? [] : [ttlMs]))
    const ttlMs = ttls.length === 0 ? -1 : Math.min(...ttls)
    return this.#listener.listen({ listen, listensWith: this }, ttlMs)
  }
}
