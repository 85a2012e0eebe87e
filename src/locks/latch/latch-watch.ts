import type { Clock } from '../../kit/clock.ts'
import { LinkedList } from '../../kit/linked-list.ts'
import { WakeEvent } from '../../kit/wake-event.ts'
import { CallFailure } from '../../servers/call-failure.ts'
import type { LatchState, RemoteLatch } from '../../servers/latch-server.ts'
import { ReleaseListener } from '../../waiting/release-listener.ts'
import { OpenRequest, ServerHealth } from '../../waiting/server-health.ts'
import type { Awaiter } from './awaiter.ts'

/**
 * While the subscription is confirmed, the client checks the latch again after at most this pause,
 * in milliseconds. The pause doubles after each check, up to `LONGEST_FALLBACK_MS`.
 */
const FIRST_FALLBACK_MS = 500
const LONGEST_FALLBACK_MS = 5_000

/**
 * If a failed check rejects the first call, the next check for the other calls follows after this
 * pause, in milliseconds.
 */
const AFTER_FAILURE_MS = 250

/**
 * All calls of one client that await one latch. These calls share one subscription, and a check
 * serves all calls that began before it. A message only starts a check. The latch counts as open
 * only after the server has answered a check, or a request of this client that changes the latch.
 */
export class LatchWatch {
  readonly health: ServerHealth
  readonly #remote: RemoteLatch
  readonly #onIdle: () => void
  readonly #all = new LinkedList<Awaiter>()
  readonly #clock: Clock
  readonly #wakeEvent: WakeEvent
  readonly #listener = new ReleaseListener({ mayBeFree: () => this.#wakeEvent.set() })
  #fallbackMs = FIRST_FALLBACK_MS
  #isRunning = false

  /** @param onIdle called when no call awaits the latch any more */
  constructor(remote: RemoteLatch, clock: Clock, onIdle: () => void) {
    this.health = new ServerHealth(clock)
    this.#clock = clock
    this.#wakeEvent = new WakeEvent(clock)
    this.#remote = remote
    this.#onIdle = onIdle
  }

  add(awaiter: Awaiter): void {
    this.#all.add(awaiter)
    this.#wakeEvent.set()
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  settled(awaiter: Awaiter): void {
    this.#all.remove(awaiter)
    if (this.#all.size > 0) return
    this.#listener.stopListening()
    this.#onIdle()
    this.#wakeEvent.set()
  }

  /**
   * Tells all awaiters which state a change of this client found. `request` is the number of the
   * change.
   */
  saw(request: number, state: LatchState): void {
    for (const awaiter of [...this.#all]) awaiter.sawBy(request, state)
  }

  rejectAll(reason: Error): void {
    for (const awaiter of [...this.#all]) awaiter.reject(reason)
  }

  async #run(): Promise<void> {
    // The first check has no pause before it, so it reaches the server before later requests of the
    // caller.
    while (this.#all.size > 0) {
      this.#wakeEvent.reset()
      const waitMs = await this.#check()
      if (this.#all.size > 0) await this.#wakeEvent.wait(waitMs)
    }
  }

  /**
   * Sends one check, and passes its answer to the awaiters.
   *
   * @returns how long to wait for a message before the next check, in milliseconds
   */
  async #check(): Promise<number> {
    // Only calls that began before this request may use its answer. Later calls need the answer to
    // the next check.
    const asking = [...this.#all]
    const { retryBudget } = asking[0] as Awaiter
    const sent = this.health.sent(new OpenRequest(this.#clock.now()))
    try {
      const state = await this.#remote.read(retryBudget.callMs)
      retryBudget.answered(sent.sentAt.monotonic)
      for (const awaiter of asking) awaiter.saw(state)
    } catch (error) {
      if (error instanceof CallFailure)
        return this.#failed(error, sent.sentAt.monotonic, retryBudget)
      this.rejectAll(error as Error)
    } finally {
      sent.finish()
    }
    return this.#all.size === 0 ? 0 : this.#listen()
  }

  #failed(failure: CallFailure, sentAt: number, first: Awaiter['retryBudget']): number {
    const pauseMs = first.failed(failure, sentAt)
    for (const awaiter of [...this.#all]) {
      const { retryBudget } = awaiter
      if (retryBudget.isUsedUp || (pauseMs === null && retryBudget === first)) {
        awaiter.reject(retryBudget.error('no longer awaited'))
      }
    }
    return pauseMs ?? AFTER_FAILURE_MS
  }

  #listen(): number {
    const mostMs = this.#listener.listen(this.#remote, Infinity)
    if (!this.#listener.isConfirmed) return mostMs
    const waitMs = this.#fallbackMs * (0.75 + Math.random() / 4)
    this.#fallbackMs = Math.min(2 * this.#fallbackMs, LONGEST_FALLBACK_MS)
    return Math.min(mostMs, waitMs)
  }
}
