import { settledChannel } from '../diagnostics.ts'
import { BackgroundTasks } from '../kit/background-tasks.ts'
import { type Clock, pause, systemClock, type Timer } from '../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import type { Released } from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import { clientOf } from './owner-id.ts'
import { promised, type Reply } from './reply.ts'
import { type LoweredHold, wholeRelease } from './requests.ts'

interface NameOnLock {
  readonly rawName: string
  /** The owner as the server stores it: `<clientId>:<owner>`. */
  readonly owner: string
}

/** A release that the client repeats until the server confirms it. */
interface PendingRelease {
  /** Ends every hold of the owner. For a semaphore, adds permits or removes the place of the client. */
  send(callMs: number): Promise<unknown>
  /** The owner id and its lock, for the diagnostics channel. Undefined if the request has no owner. */
  readonly of?: NameOnLock
  /**
   * Until when the server may still run a delayed request of the owner, in ms on the monotonic
   * clock; 0 if no request is delayed.
   */
  readonly untilMs: number
  /** How long to repeat the release after `untilMs`, in ms: usually the longest possible lease. */
  readonly leaseMs: number
  /** Earliest time of the first release, in ms on the monotonic clock; at once by default. */
  readonly fromMs?: number
}

interface OpenRelease extends PendingRelease {
  /** Earliest time of the next release, in ms on the monotonic clock. */
  dueAtMs: number
  readonly addedAtMs: number
  readonly endsAtMs: number
  isUnderWay: boolean
  hasFailed: boolean
}

/** The first pause, the longest pause, and the pause while the client closes, in milliseconds. */
const PAUSE_MS = { first: 50, longest: 1_000, closing: 20 }

/** If the server answers one release, the client sends the others in groups of this size. */
const AT_ONCE = 50

/**
 * Repeats the releases that one server has not confirmed, in the background. Tries only one release
 * at a time if the server is silent. Before `quiet()` is called, no timer keeps the process alive.
 */
export class PendingReleases {
  readonly #callMs: number
  readonly #label: string
  readonly #clock: Clock
  readonly #open = new Set<OpenRelease>()
  readonly #sending = new BackgroundTasks()
  #isFailing = false
  #failedAtMs = 0
  #retryAtMs = 0
  #pauseMs = PAUSE_MS.first
  #timer: Timer | undefined
  #firesAtMs = Infinity
  #round: Promise<void> | undefined
  #closed = false

  /** @param callMs how long to wait for the answer to one release, in milliseconds */
  constructor(callMs: number, label = '', clock = systemClock) {
    this.#label = label
    this.#callMs = callMs
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  add(pending: PendingRelease): void {
    if (this.#closed) return
    const now = this.#clock.monotonic()
    const { untilMs, leaseMs, fromMs = 0 } = pending
    const dueAtMs = Math.max(now, fromMs)
    const endsAtMs = Math.max(untilMs, dueAtMs) + leaseMs
    const progress = { dueAtMs, endsAtMs, addedAtMs: now, isUnderWay: false, hasFailed: false }
    const open = { ...pending, ...progress }
    this.#open.add(open)
    if (this.#isFailing || dueAtMs > now) this.#arm(dueAtMs)
    else this.#sending.run(this.#send(open))
  }

  /**
   * Releases every hold of an owner in the background. No later request uses the owner id.
   *
   * @param of the owner id and its lock
   * @param untilMs until when a delayed request may still run, in ms on the monotonic clock
   * @param leaseMs the longest lease that a delayed request could get, in milliseconds
   * @param lower sends one release
   */
  abandon(
    of: NameOnLock,
    untilMs: number,
    leaseMs: number,
    lower: (ending: LoweredHold, reply: Reply<Released>) => void,
  ): void {
    const send = (callMs: number) =>
      promised<Released>((reply) => lower(wholeRelease(of.owner, callMs), reply))
    this.add({ send, of, untilMs, leaseMs })
  }

  /** Called when the server has answered another request. New releases are then sent at once. */
  answered(): void {
    this.#isFailing = false
  }

  /** Called when the server is reachable again. Sends the due releases at once. */
  tryNow(): void {
    this.#pauseMs = PAUSE_MS.first
    if (this.#open.size === 0) return
    this.#retryAtMs = 0
    this.#arm(0)
  }

  /**
   * Called when the client closes. Sends the pending releases with short pauses, and resolves when
   * no release is pending.
   *
   * @param isWorthIt checked before each round; if it returns false, the call resolves at once
   */
  async quiet(isWorthIt = () => true): Promise<void> {
    while (this.#open.size > 0 && isWorthIt()) {
      this.#retryAtMs = 0
      await this.#work()
      await this.#sending.quiet()
      if (this.#open.size > 0) await pause(this.#clock, PAUSE_MS.closing)
    }
  }

  /** Drops all pending releases. */
  stopAll(): void {
    this.#closed = true
    this.#clock.clear(this.#timer)
    this.#open.clear()
  }

  #arm(dueAtMs: number): void {
    if (this.#closed) return
    const atMs = this.#isFailing ? Math.max(dueAtMs, this.#retryAtMs) : dueAtMs
    if (atMs >= this.#firesAtMs) return
    this.#clock.clear(this.#timer)
    this.#firesAtMs = atMs
    const ms = Math.min(Math.max(1, atMs - this.#clock.monotonic()), LONGEST_TIMER_MS)
    this.#timer = this.#clock.after(ms, () => void this.#work()).unref()
  }

  #work(): Promise<void> {
    this.#clock.clear(this.#timer)
    this.#firesAtMs = Infinity
    this.#round ??= this.#sendDue().finally(() => {
      this.#round = undefined
      let nextMs = Infinity
      for (const { dueAtMs, isUnderWay } of this.#open) {
        if (!isUnderWay) nextMs = Math.min(nextMs, dueAtMs)
      }
      if (nextMs < Infinity) this.#arm(nextMs)
    })
    return this.#round
  }

  /**
   * Sends one due release alone, because the server may be silent. If the server answers, sends the
   * others in groups.
   */
  async #sendDue(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#isFailing && now < this.#retryAtMs) return
    const due: OpenRelease[] = []
    for (const one of this.#open) {
      if (one.isUnderWay || one.dueAtMs > now) continue
      if (one.endsAtMs > now) due.push(one)
      else this.#settled(one)
    }
    // Releases that failed before are sent last. So a release that always fails does not delay the
    // others.
    due.sort((a, b) => Number(a.hasFailed) - Number(b.hasFailed))
    for (let from = 0, atOnce = 1; from < due.length; from += atOnce, atOnce = AT_ONCE) {
      const answered = await Promise.all(
        due.slice(from, from + atOnce).map((one) => this.#send(one)),
      )
      if (answered.includes(false)) return
    }
  }

  /** @returns true if the server confirmed the release, or if a retry is pointless */
  async #send(one: OpenRelease): Promise<boolean> {
    const sentAtMs = this.#clock.monotonic()
    one.isUnderWay = true
    try {
      await one.send(this.#callMs)
      if (sentAtMs >= this.#failedAtMs) {
        this.#isFailing = false
        this.#pauseMs = PAUSE_MS.first
      }
      // A delayed request may acquire the lock after this release. So the client sends the release
      // again when no request is delayed any more.
      if (sentAtMs >= one.untilMs) this.#settled(one)
      else {
        one.dueAtMs = one.untilMs
        if (this.#open.has(one)) this.#arm(one.dueAtMs)
      }
      return true
    } catch (failure) {
      const isOver = (failure as CallFailure).permanent
      one.hasFailed = true
      // The failed release moves to the end, so that the next attempt sends another release.
      if (this.#open.delete(one) && !isOver) this.#open.add(one)
      if (!isOver) this.#failed(sentAtMs)
      return isOver
    } finally {
      one.isUnderWay = false
    }
  }

  /** Removes a pending release. Reports how long the outcome of a delayed request was unknown. */
  #settled(one: OpenRelease): void {
    const { of, untilMs, addedAtMs } = one
    if (!this.#open.delete(one) || of === undefined || untilMs === 0) return
    if (!settledChannel.hasSubscribers) return
    settledChannel.publish({
      client: clientOf(of.owner),
      label: this.#label,
      key: of.rawName,
      unknownMs: this.#clock.monotonic() - addedAtMs,
    })
  }

  #failed(sentAtMs: number): void {
    // Releases that failed together count as one failure, so the pause doubles only once.
    if (sentAtMs < this.#failedAtMs) {
      this.#arm(this.#retryAtMs)
      return
    }
    this.#failedAtMs = this.#clock.monotonic()
    this.#isFailing = true
    this.#retryAtMs = this.#failedAtMs + this.#pauseMs
    this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS.longest)
    this.#arm(this.#retryAtMs)
  }
}
