import { type Clock, disagreementMs, type Moment, type Timer } from '../kit/clock.ts'
import { Deadlines } from '../kit/deadlines.ts'
import { LinkedList } from '../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import type { Hold } from './hold.ts'
import { RenewalTimer } from './renewal-timer.ts'
import type { Renewer } from './renewer.ts'
import type { StandIn } from './stand-in.ts'

type HoldTimer = RenewalTimer<Hold>

interface WatchdogEvents {
  renewed(holds: number): void
  late(hold: Hold, cause: Error): void
}

/** One request carries at most this many leases. */
const CHUNK = 500

/** The clocks are compared this often while anything is held, in milliseconds. */
const CLOCK_CHECK_MS = 250

/** Clocks that came apart by more than this make the watchdog ask the server, in milliseconds. */
const DISAGREEMENT_MS = 250

/** Where the worse clock says that a lease is over the server has so long to say otherwise. */
const ANSWER_MS = 250

/**
 * The watchdog of one client: one timer for each lease to which holds are renewed, at a third of it; that of
 * the client's own looks at the fixed ones as well. And one that ends those by arithmetic whose time is
 * up with no renewal confirmed. No timer of its own keeps the process alive.
 */
export class Watchdog {
  readonly #renewer: Renewer<Hold>
  readonly #clock: Clock
  readonly #events: WatchdogEvents
  readonly #standIn: StandIn | undefined
  /** For the lease of the client and whatever is fixed; with those for other leases it is among all. */
  readonly #ownTimer: HoldTimer
  readonly #timers = new Map<number, HoldTimer>()
  /** Those that nobody renews unless asked to. */
  readonly #fixed = new LinkedList<Hold>()
  /** When the time of each is up at the earliest: renewals that move it are seen when that has come. */
  readonly #deadlines = new Deadlines<Hold>()
  #clockChecks: Timer | undefined
  #lastSeen: Moment | undefined
  #alarm: Timer | undefined
  /** When the alarm goes off, on the monotonic clock; not after the time of any hold is up. */
  #alarmAt = Infinity
  #distrust: Timer | undefined

  constructor(
    renewer: Renewer<Hold>,
    leaseMs: number,
    clock: Clock,
    events: WatchdogEvents,
    standIn?: StandIn,
  ) {
    this.#renewer = renewer
    this.#clock = clock
    this.#events = events
    this.#standIn = standIn
    this.#ownTimer = this.#timerOf(leaseMs)
  }

  /** Whether somebody renews while this thread cannot. */
  get hasStandIn(): boolean {
    return this.#standIn !== undefined
  }

  /** What a hold of this kind has to wait for before it can be watched as is promised. */
  readyFor({ renewal }: Hold['kind']): Promise<void> | undefined {
    return renewal === undefined ? this.#standIn?.ready() : undefined
  }

  /** From now on the hold ends by arithmetic when its time is up. */
  track(hold: Hold): void {
    this.#fixed.add(hold)
    const dueAt = this.#clock.now().monotonic + hold.remainingMonotonicMs()
    this.#deadlines.set(hold, dueAt)
    this.#setAlarm(dueAt)
    if (this.#clockChecks === undefined) {
      this.#lastSeen = this.#clock.now()
      this.#clockChecks = this.#clock.every(CLOCK_CHECK_MS, () => this.#compareClocks()).unref()
      this.#ownTimer.start()
    }
  }

  /** From now on the hold is renewed, to the lease that it says. */
  watch(hold: Hold): void {
    const timer = this.#timerOf(hold.renewMs)
    timer.holds.add(hold)
    timer.start()
    if (this.#standIn !== undefined && hold.kind.renewal === undefined) hold.backBy(this.#standIn)
  }

  unwatch(hold: Hold): void {
    if (hold.list !== undefined) this.#fixed.add(hold)
    hold.standAlone()
  }

  /** The hold was released or lost: it is never renewed again. */
  untrack(hold: Hold): void {
    hold.list?.remove(hold)
    this.#deadlines.remove(hold)
    hold.standAlone()
  }

  /** Asks the server about everything held, now: it may be another server, or an emptied one. */
  verifyAll(): void {
    this.verify(this.#all)
  }

  /** One that is in no chain was forgotten. */
  verify(holds: readonly Hold[]): void {
    for (const timer of this.#timers.values()) {
      for (const [some, leaseMs] of timer.wants(holds)) this.#ask(timer, some, leaseMs)
    }
    const isFixed = (hold: Hold) => this.#fixed.has(hold)
    this.#ask(this.#ownTimer, holds.filter(isFixed), 0)
  }

  close(): void {
    for (const hold of this.#all) this.untrack(hold)
    this.#stopIfIdle()
  }

  // A fixed lease may be gone before its time: deleted, evicted, forced, or run out on a server whose
  // clock was set. One that is shorter than a tick mostly ends before anybody looks.
  tick(timer: HoldTimer): void {
    this.#stopIfIdle()
    if (timer === this.#ownTimer) this.verify([...timer.holds, ...this.#fixed])
    else if (timer.holds.size > 0) this.verify([...timer.holds])
    else this.#forget(timer)
  }

  #forget(timer: HoldTimer): void {
    timer.stop()
    if (timer !== this.#ownTimer) this.#timers.delete(timer.leaseMs)
  }

  #timerOf(leaseMs: number): HoldTimer {
    const timer = this.#timers.get(leaseMs) ?? new RenewalTimer(leaseMs, this.#clock, this)
    this.#timers.set(leaseMs, timer)
    return timer
  }

  get #all(): Hold[] {
    return [...[...this.#timers.values()].flatMap(({ holds }) => [...holds]), ...this.#fixed]
  }

  // The timers outlive the holds by one turn, so that lock after lock does not remake them.
  #stopIfIdle(): void {
    if (this.#fixed.size > 0) return
    for (const { holds } of this.#timers.values()) if (holds.size > 0) return
    for (const timer of this.#timers.values()) this.#forget(timer)
    this.#clock.clear(this.#clockChecks)
    this.#clockChecks = undefined
    this.#clock.clear(this.#distrust)
    this.#clock.clear(this.#alarm)
    this.#alarmAt = Infinity
  }

  // Renewals and releases leave it as it is: it looks for the next one when it goes off.
  #setAlarm(at: number): void {
    if (at >= this.#alarmAt) return
    this.#clock.clear(this.#alarm)
    this.#alarmAt = at
    const ms = Math.min(Math.max(at - this.#clock.now().monotonic, 1), LONGEST_TIMER_MS)
    this.#alarm = this.#clock.after(ms, () => this.#endOverdue()).unref()
  }

  #endOverdue(): void {
    this.#alarmAt = Infinity
    const now = this.#clock.now().monotonic
    for (let hold = this.#deadlines.first; hold; hold = this.#deadlines.first) {
      if (hold.dueAt > now) {
        this.#setAlarm(hold.dueAt)
        return
      }
      const leftMs = hold.remainingMonotonicMs()
      if (leftMs > 0) {
        this.#deadlines.set(hold, now + leftMs)
      } else {
        this.#deadlines.remove(hold)
        hold.loseIfExpired()
      }
    }
  }

  #compareClocks(): void {
    this.#stopIfIdle()
    const now = this.#clock.now()
    if (this.#lastSeen !== undefined && disagreementMs(this.#lastSeen, now) > DISAGREEMENT_MS) {
      this.verifyAll()
      this.#endDistrusted(now.monotonic + ANSWER_MS)
    }
    this.#lastSeen = now
  }

  // The alarm goes by the monotonic clock, which stood still while the machine was suspended.
  #endDistrusted(notBefore: number): void {
    this.#clock.clear(this.#distrust)
    const waitMs = notBefore - this.#clock.now().monotonic
    let nextMs = Infinity
    for (const hold of this.#all) {
      const leftMs = hold.remainingMs()
      if (hold.remainingMonotonicMs() - leftMs < DISAGREEMENT_MS / 2) continue
      if (leftMs === 0 && waitMs <= 0) hold.loseIfExpired()
      else nextMs = Math.min(nextMs, Math.max(leftMs, waitMs))
    }
    if (nextMs === Infinity) return
    const ms = Math.min(Math.max(nextMs, 1), LONGEST_TIMER_MS)
    this.#distrust = this.#clock.after(ms, () => this.#endDistrusted(notBefore)).unref()
  }

  #ask(timer: HoldTimer, holds: readonly Hold[], leaseMs: number): void {
    for (const group of this.#renewer.groups(holds)) {
      for (let from = 0; from < group.length; from += CHUNK) {
        void this.#askChunk(timer, group.slice(from, from + CHUNK), leaseMs)
      }
    }
  }

  async #askChunk(timer: HoldTimer, holds: readonly Hold[], leaseMs: number): Promise<void> {
    const sentAt = this.#clock.now()
    const answers = await this.#renewer.renew(holds, leaseMs, timer.leaseMs / 3)
    const unknown: Hold[] = []
    let renewed = 0
    for (const [i, asked] of holds.entries()) {
      const answer = answers[i]
      const hold = asked.current
      if (answer === undefined || !hold.live) continue
      if (answer.kind === 'lost') {
        hold.loseGone()
      } else if (answer.kind === 'unknown') {
        unknown.push(hold)
        this.#events.late(hold, answer.cause)
        // Where only the clocks disagreed the server could have settled it, but it is silent.
        hold.loseIfExpired()
      } else {
        hold.proved(answer.leaseMs, sentAt)
        if (answer.kind === 'renewed') renewed += 1
      }
    }
    if (renewed > 0) this.#events.renewed(renewed)
    if (unknown.length > 0) timer.unheard.add(unknown)
  }
}
