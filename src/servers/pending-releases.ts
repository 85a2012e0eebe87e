import { settledChannel } from '../diagnostics.ts'
import { BackgroundTasks } from '../kit/background-tasks.ts'
import { type Clock, pause, systemClock, type Timer } from '../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { clientOf, type Released } from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import { promised, type Reply } from './reply.ts'
import type { Ending } from './requests.ts'

/** An owner's name on a lock. */
interface NameOnLock {
  /** The key of the lock. */
  readonly key: string
  /** `<clientId>:<owner>` */
  readonly owner: string
}

/** An owner's name on a lock, not to be used again, that may have the lock or be granted it yet. */
interface PendingRelease {
  /** Ends all that the name has. */
  release(callMs: number): Promise<unknown>
  /** Left out where nobody is told what became of it. */
  readonly of?: NameOnLock
  /** Until when a delayed request could still take the lock, on the monotonic clock. */
  readonly untilMs: number
  /** The longest lease that it could have, in milliseconds. */
  readonly leaseMs: number
  /** When to send the first release, on the monotonic clock; at once where it is left out. */
  readonly fromMs?: number
}

interface Open extends PendingRelease {
  /** When the next release is to be sent, and when the lease would be over by itself. */
  dueAtMs: number
  readonly addedAtMs: number
  readonly endsAtMs: number
  isUnderWay: boolean
  hasFailed: boolean
}

/** How long to pause before a release is sent again, in milliseconds. */
const PAUSE_MS = { first: 50, longest: 1_000, closing: 20 }

/** Once one has been answered the others are sent so many at a time. */
const AT_ONCE = 50

/**
 * What is released in the background at one server: each name until the server has confirmed it at a
 * time when no delayed request can undo it, or until the lease would be over by itself. While the server
 * does not answer, one release is tried from time to time, whatever the number of names. It keeps no
 * process alive.
 */
export class PendingReleases {
  readonly #callMs: number
  readonly #label: string
  readonly #clock: Clock
  readonly #open = new Set<Open>()
  readonly #sending = new BackgroundTasks()
  #isFailing = false
  #failedAtMs = 0
  #retryAtMs = 0
  #pauseMs = PAUSE_MS.first
  #timer: Timer | undefined
  #firesAtMs = Infinity
  #round: Promise<void> | undefined
  #closed = false

  /**
   * @param callMs how long one release may take, in milliseconds
   * @param label what the facts of its client are told with
   */
  constructor(callMs: number, label = '', clock = systemClock) {
    this.#label = label
    this.#callMs = callMs
    this.#clock = clock
  }

  /** How many names are still to be released. */
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
   * Whatever an owner has whose name is not used again.
   *
   * @param of the name
   * @param untilMs until when a delayed request in that name may still run, on the monotonic clock
   * @param leaseMs the longest lease that it could have
   * @param end the release at that place
   */
  abandon(
    of: NameOnLock,
    untilMs: number,
    leaseMs: number,
    end: (ending: Ending, reply: Reply<Released>) => void,
  ): void {
    const release = (callMs: number) =>
      promised<Released>((reply) => end({ owner: of.owner, holds: 0, token: '', callMs }, reply))
    this.add({ release, of, untilMs, leaseMs })
  }

  /** The server answered another request: what is added from now on is sent at once. */
  answered(): void {
    this.#isFailing = false
  }

  /** The server can be reached again. */
  tryNow(): void {
    this.#pauseMs = PAUSE_MS.first
    if (this.#open.size === 0) return
    this.#retryAtMs = 0
    this.#arm(0)
  }

  /**
   * Ends when nothing is left to be released; for when everything is being closed, so it pauses less.
   *
   * @param isWorthIt whether to go on
   */
  async quiet(isWorthIt = () => true): Promise<void> {
    while (this.#open.size > 0 && isWorthIt()) {
      this.#retryAtMs = 0
      await this.#work()
      await this.#sending.quiet()
      if (this.#open.size > 0) await pause(this.#clock, PAUSE_MS.closing)
    }
  }

  /** Nothing is released any more. */
  close(): void {
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

  /** Sends what is due, first one and then many, and stops where the server does not answer. */
  async #sendDue(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#isFailing && now < this.#retryAtMs) return
    const due: Open[] = []
    for (const one of this.#open) {
      if (one.isUnderWay || one.dueAtMs > now) continue
      if (one.endsAtMs > now) due.push(one)
      else this.#settled(one)
    }
    // Those of which nothing bad is known first: what fails for itself alone holds up no other.
    due.sort((a, b) => Number(a.hasFailed) - Number(b.hasFailed))
    for (let from = 0, atOnce = 1; from < due.length; from += atOnce, atOnce = AT_ONCE) {
      const answered = await Promise.all(
        due.slice(from, from + atOnce).map((one) => this.#send(one)),
      )
      if (answered.includes(false)) return
    }
  }

  /** @returns whether it was answered */
  async #send(one: Open): Promise<boolean> {
    const sentAtMs = this.#clock.monotonic()
    one.isUnderWay = true
    try {
      await one.release(this.#callMs)
      if (sentAtMs >= this.#failedAtMs) {
        this.#isFailing = false
        this.#pauseMs = PAUSE_MS.first
      }
      // A request in doubt may come behind: then it is released once more.
      if (sentAtMs >= one.untilMs) this.#settled(one)
      else {
        one.dueAtMs = one.untilMs
        if (this.#open.has(one)) this.#arm(one.dueAtMs)
      }
      return true
    } catch (failure) {
      const isOver = (failure as CallFailure).permanent
      one.hasFailed = true
      // The next one may be luckier.
      if (this.#open.delete(one) && !isOver) this.#open.add(one)
      if (!isOver) this.#failed(sentAtMs)
      return isOver
    } finally {
      one.isUnderWay = false
    }
  }

  /** What the name has is over. That is news where it was not known whether it had the lock, or would. */
  #settled(one: Open): void {
    const { of, untilMs, addedAtMs } = one
    if (!this.#open.delete(one) || of === undefined || untilMs === 0) return
    if (!settledChannel.hasSubscribers) return
    settledChannel.publish({
      client: clientOf(of.owner),
      label: this.#label,
      key: of.key,
      unknownMs: this.#clock.monotonic() - addedAtMs,
    })
  }

  #failed(sentAtMs: number): void {
    // Several that were sent together fail together.
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
