import { type Clock, pause, type Timer } from '../kit/clock.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Hint, ReleaseHint } from '../servers/hint.ts'
import type { Subscription } from '../servers/subscription.ts'
import type { FreeCheck, FreeWatcher } from './free-watchers.ts'
import { ReleaseListener, untilCheckMs } from './release-listener.ts'
import { OpenRequest, ServerHealth } from './server-health.ts'

/**
 * The pause before the next check if a failure has rejected a waiting call, in milliseconds. The
 * next check is for the remaining calls and listeners.
 */
const AFTER_FAILURE_MS = 250

/**
 * Limits the checks of a lock that is released and acquired very often. The first `checks` checks
 * need no pause. Then each pause is twice as long as the last pause, up to `longestMs`
 * milliseconds. After more than `calmMs` milliseconds without a check, the count begins again.
 */
const BUSY = { checks: 8, longestMs: 64, calmMs: 250 }

/** The requests of a free watch to the server of its lock. */
export interface Watched<S> {
  /** Reads the state of the lock, with a time limit in milliseconds. */
  read(callMs: number): Promise<S>
  /** Listens to the hints about the lock, as `RemoteLock.listen` does. */
  listen(onHint: (hint: Hint) => void): Subscription
}

/**
 * All calls and listeners of one client that wait until one lock is free. They share one
 * subscription and all checks. A hint causes a check, and only the answer decides whether the
 * lock is free.
 */
export class FreeWatch<S> {
  readonly health: ServerHealth
  readonly #watched: Watched<S>
  readonly #clock: Clock
  readonly #onIdle: () => void
  readonly #all = new Set<FreeWatcher<S>>()
  readonly #listener: ReleaseListener
  #isChecking = false
  /** True if another check must follow the current check. */
  #checksAgain = false
  /**
   * The hints of releases that arrived since the last check was sent. Checks that failed do not
   * count.
   */
  #releases = new Set<ReleaseHint>()
  #checkedAt = -Infinity
  #checksInARow = 0
  #timer: Timer | undefined

  /** @param onIdle called when the last watcher was removed */
  constructor(watched: Watched<S>, clock: Clock, onIdle: () => void) {
    this.health = new ServerHealth(clock)
    this.#watched = watched
    this.#clock = clock
    this.#onIdle = onIdle
    this.#listener = new ReleaseListener({ mayBeFree: () => this.check() })
  }

  /**
   * True if the server has confirmed the subscription. The client then receives a message for each
   * release.
   */
  get isConfirmed(): boolean {
    return this.#listener.isConfirmed
  }

  add(watcher: FreeWatcher<S>): void {
    this.#all.add(watcher)
    this.check()
  }

  settled(watcher: FreeWatcher<S>): void {
    if (!this.#all.delete(watcher) || this.#all.size > 0) return
    this.#clock.clear(this.#timer)
    this.#listener.stopListening()
    this.#onIdle()
  }

  rejectAll(reason: Error): void {
    for (const watcher of [...this.#all]) watcher.reject(reason)
  }

  check(): void {
    this.#checksAgain = true
    if (this.#isChecking) return
    this.#isChecking = true
    this.#clock.clear(this.#timer)
    void this.#checkWhileNeeded()
  }

  async #checkWhileNeeded(): Promise<void> {
    let waitMs = 0
    do {
      // Calls that begin in the same turn of the event loop share the first check.
      await Promise.resolve()
      const pauseMs = this.#nextPauseMs()
      if (pauseMs > 0) await pause(this.#clock, pauseMs)
      this.#checkedAt = this.#clock.monotonic()
      this.#checksAgain = false
      waitMs = this.#all.size > 0 ? await this.#check() : 0
    } while (this.#checksAgain && this.#all.size > 0)
    this.#isChecking = false
    if (this.#all.size === 0) return
    this.#timer = this.#clock.after(waitMs, () => this.check())
    if (!this.#isWaitedFor) this.#timer.unref()
  }

  #nextPauseMs(): number {
    const sinceMs = this.#clock.monotonic() - this.#checkedAt
    this.#checksInARow = sinceMs > BUSY.calmMs ? 0 : this.#checksInARow + 1
    if (this.#checksInARow <= BUSY.checks) return 0
    const wantedMs = Math.min(2 ** (this.#checksInARow - BUSY.checks), BUSY.longestMs)
    return Math.max(0, wantedMs - sinceMs)
  }

  /**
   * Sends one check, and passes the answer to the watchers. Returns the pause before the next check,
   * in milliseconds. A hint ends this pause.
   */
  async #check(): Promise<number> {
    // A watcher that is added after this line is not in this check. `add` causes another check.
    const asking = [...this.#all]
    const { retryBudget } = asking[0] as FreeWatcher<S>
    const releases = this.#releases
    this.#releases = new Set()
    const sent = this.health.sent(new OpenRequest(this.#clock.now()))
    let state: S
    try {
      state = await this.#watched.read(retryBudget.callMs)
    } catch (error) {
      for (const release of releases) this.#releases.add(release)
      if (error instanceof CallFailure) return this.#failed(error, sent.sentAt.monotonic)
      this.rejectAll(error as Error)
      return AFTER_FAILURE_MS
    } finally {
      sent.finish()
    }
    retryBudget.answered(sent.sentAt.monotonic)
    const seen = asking.map((watcher) => watcher.saw(state, releases))
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
    // No failure ends a listener. So if only listeners remain, the next check may come later.
    return this.#isWaitedFor ? AFTER_FAILURE_MS : untilCheckMs()
  }

  /** True if a call waits. A waiting call keeps the process alive, and a listener does not. */
  get #isWaitedFor(): boolean {
    return [...this.#all].some(({ keepsAlive }) => keepsAlive)
  }

  #listen(seen: readonly FreeCheck[]): number {
    const listen = (onHint: (hint: Hint) => void) =>
      this.#watched.listen((hint) => {
        if (hint.kind === 'released') this.#releases.add(hint)
        onHint(hint)
      })
    const ttls = seen.map(({ isFree, ttlMs }) => (isFree ? Infinity : ttlMs))
    return this.#listener.listen({ listen, listensWith: this }, Math.min(...ttls))
  }
}
