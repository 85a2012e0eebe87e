import { ClosedError } from '../../errors.ts'
import type { Clock, Timer } from '../../kit/clock.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'
import type { HolderFacts } from '../../servers/facts.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { type LeaderInfo, leaderIn } from './election-info.ts'

/**
 * Without a message, the next check follows after at least this pause, in milliseconds. Without this
 * limit, the client would check without a pause while the server reports a remaining lease of 0 ms.
 */
const SHORTEST_MS = 10

interface WatchedElection {
  /**
   * The longest pause between two checks, in milliseconds. A check finds a change whose message was
   * lost.
   */
  readonly everyMs: number
  readonly clock: Clock
  peek(): Promise<HolderFacts>
  /** Subscribes to messages, and calls `onWake` when the leader may have changed. */
  listen(onWake: () => void): Subscription[]
  /**
   * Checks the term with the server if this candidate seems to lead, but `holder` is another owner
   * or null.
   */
  verify(holder: string | null): Promise<void>
  /**
   * False if `holder` contradicts what this client knows about its candidates. The watch then does
   * not report this holder to the listeners.
   */
  accepts(holder: string | null): boolean
  changed(leader: LeaderInfo | null): void
  failed(error: Error): void
}

/**
 * Finds the leader while `changed` has listeners. The watch checks the leader after each message,
 * and at intervals.
 */
export class LeaderWatch {
  readonly #host: WatchedElection
  #subscriptions: Subscription[] = []
  #timer: Timer | undefined
  #isWatching = false
  #isChecking = false
  #checksAgain = false
  /**
   * Increases at each start and stop, and when this candidate begins a term. The watch ignores an
   * answer if this number has changed since the request.
   */
  #epoch = 0
  /** The last reported leader: null if there was no leader, undefined before the first report. */
  #reported: LeaderInfo | null | undefined
  #lastToken = 0

  constructor(host: WatchedElection) {
    this.#host = host
  }

  get isWatching(): boolean {
    return this.#isWatching
  }

  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#epoch += 1
    this.#reported = undefined
    outsideFrames(() => {
      this.#subscriptions = this.#host.listen(() => this.check())
      this.check()
    })
  }

  stop(): void {
    if (!this.#isWatching) return
    this.#isWatching = false
    this.#epoch += 1
    this.#host.clock.clear(this.#timer)
    for (const subscription of this.#subscriptions.splice(0)) subscription.stop()
  }

  /**
   * Reports a term of this client without a check. The watch then ignores answers to requests in
   * flight, because they may be older than the term.
   */
  began(leader: LeaderInfo): void {
    if (!this.#isWatching) return
    this.#epoch += 1
    this.#report(leader)
  }

  check(): void {
    if (!this.#isWatching) return
    if (this.#isChecking) this.#checksAgain = true
    else void outsideFrames(() => this.#checkNow())
  }

  async #checkNow(): Promise<void> {
    this.#isChecking = true
    this.#host.clock.clear(this.#timer)
    let waitMs = 0
    do {
      this.#checksAgain = false
      waitMs = await this.#checkOnce()
    } while (this.#checksAgain && this.#isWatching)
    this.#isChecking = false
    if (this.#isWatching) this.#timer = this.#host.clock.after(waitMs, () => this.check()).unref()
  }

  /** @returns the longest pause before the next check, in milliseconds */
  async #checkOnce(): Promise<number> {
    const { everyMs } = this.#host
    const epoch = this.#epoch
    try {
      const facts = await this.#host.peek()
      if (epoch === this.#epoch) await this.#host.verify(facts.holder)
      if (epoch !== this.#epoch) this.#checksAgain = true
      else if (this.#host.accepts(facts.holder)) this.#report(leaderIn(facts))
      const { holder, ttlMs } = facts
      if (holder === null || ttlMs === null) return everyMs
      return Math.min(everyMs, Math.max(ttlMs + 1, SHORTEST_MS))
    } catch (error) {
      if (error instanceof ClosedError) this.stop()
      else if (this.#isWatching) this.#host.failed(error as Error)
      return everyMs
    }
  }

  /**
   * Reports a change of the leader. Does not report the same leader again, or a term that is older
   * than a reported term.
   */
  #report(leader: LeaderInfo | null): void {
    if (leader?.owner === this.#reported?.owner && this.#reported !== undefined) return
    if (leader !== null && leader.token !== null) {
      if (leader.token < this.#lastToken) return
      this.#lastToken = leader.token
    }
    this.#reported = leader
    this.#host.changed(leader)
  }
}
