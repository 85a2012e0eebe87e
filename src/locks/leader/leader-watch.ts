import { ClosedError } from '../../errors.ts'
import type { Clock, Timer } from '../../kit/clock.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { type LeaderInfo, leaderIn } from './election-info.ts'

/**
 * In milliseconds. This shortest pause prevents a loop of checks while the server reports a lease
 * with no time left.
 */
const SHORTEST_MS = 10

interface Host {
  /**
   * The longest pause between two checks, in milliseconds. A check finds a change whose message was
   * lost.
   */
  readonly everyMs: number
  readonly clock: Clock
  look(): Promise<HolderFacts>
  /** Calls `onWake` when the leader may have changed. */
  listen(onWake: () => void): Subscription[]
  /**
   * Checks the term with the server if this process seems to lead, but `holder` is another owner or
   * null.
   */
  verify(holder: string | null): Promise<void>
  /**
   * True if `holder` agrees with the state of this candidate, so that listeners may receive the
   * report.
   */
  accepts(holder: string | null): boolean
  changed(leader: LeaderInfo | null): void
  failed(error: Error): void
}

/** Finds the leader while `changed` has listeners: after each message, and at intervals. */
export class LeaderWatch {
  readonly #host: Host
  #subscriptions: Subscription[] = []
  #timer: Timer | undefined
  #isWatching = false
  #isLooking = false
  #looksAgain = false
  /**
   * Increases at each start, each stop and each own term. An answer is ignored if this number has
   * changed since its request was sent.
   */
  #epoch = 0
  /** The last reported leader: null if there was no leader, undefined before the first report. */
  #told: LeaderInfo | null | undefined
  #lastToken = 0

  constructor(host: Host) {
    this.#host = host
  }

  get isWatching(): boolean {
    return this.#isWatching
  }

  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#epoch += 1
    this.#told = undefined
    outsideFrames(() => {
      this.#subscriptions = this.#host.listen(() => this.look())
      this.look()
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
   * Reports a term of this client without a check. Answers to requests in flight are ignored,
   * because they may be older than the term.
   */
  began(leader: LeaderInfo): void {
    if (!this.#isWatching) return
    this.#epoch += 1
    this.#tell(leader)
  }

  look(): void {
    if (!this.#isWatching) return
    if (this.#isLooking) this.#looksAgain = true
    else void outsideFrames(() => this.#look())
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#host.clock.clear(this.#timer)
    let waitMs = 0
    do {
      this.#looksAgain = false
      waitMs = await this.#lookOnce()
    } while (this.#looksAgain && this.#isWatching)
    this.#isLooking = false
    if (this.#isWatching) this.#timer = this.#host.clock.after(waitMs, () => this.look()).unref()
  }

  /** @returns the longest pause before the next check, in milliseconds */
  async #lookOnce(): Promise<number> {
    const { everyMs } = this.#host
    const epoch = this.#epoch
    try {
      const facts = await this.#host.look()
      if (epoch === this.#epoch) await this.#host.verify(facts.holder)
      if (epoch !== this.#epoch) this.#looksAgain = true
      else if (this.#host.accepts(facts.holder)) this.#tell(leaderIn(facts))
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
  #tell(leader: LeaderInfo | null): void {
    if (leader?.owner === this.#told?.owner && this.#told !== undefined) return
    if (leader !== null && leader.token !== null) {
      if (leader.token < this.#lastToken) return
      this.#lastToken = leader.token
    }
    this.#told = leader
    this.#host.changed(leader)
  }
}
