import type { Clock, Moment, Timer } from '../kit/clock.ts'
import { LinkedList } from '../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { Alarm } from './alarm.ts'
import { ClockWatch, DISAGREEMENT_MS } from './clock-watch.ts'
import type { Hold } from './hold.ts'
import { isAtLimit } from './loss.ts'
import { type RenewalEvents, RenewalRequests } from './renewal-requests.ts'
import { RenewalTimer } from './renewal-timer.ts'
import type { Renewer } from './renewer.ts'
import type { StandIn } from './stand-in.ts'

type HoldTimer = RenewalTimer<Hold>

/**
 * If a lease has expired only by the wall clock, the watchdog waits this many milliseconds for the server's
 * confirmation.
 */
const ANSWER_MS = 250

/**
 * The watchdog of one client on one server or quorum. All holds whose renewed leases have the same length share one
 * timer, which renews them after each third of this length. The timer for the client's `leaseMs` also checks fixed
 * leases.
 *
 * The alarm ends the holds that were not renewed in time. The alarm sends no request. No timer of this class keeps the
 * process alive.
 */
export class Watchdog {
  readonly #requests: RenewalRequests<Hold>
  readonly #clock: Clock
  readonly #standIn: StandIn | undefined
  /** The timer for the client's `leaseMs`, which also checks fixed leases. `#timers` contains this timer too. */
  readonly #ownTimer: HoldTimer
  readonly #timers = new Map<number, HoldTimer>()
  /** The holds that no timer renews. */
  readonly #fixed = new LinkedList<Hold>()
  readonly #clockWatch: ClockWatch
  readonly #alarm: Alarm
  #distrust: Timer | undefined
  readonly #isFixed = (hold: Hold) => this.#fixed.has(hold)

  constructor(
    renewer: Renewer<Hold>,
    leaseMs: number,
    clock: Clock,
    events: RenewalEvents<Hold>,
    standIn?: StandIn,
  ) {
    this.#requests = new RenewalRequests(renewer, clock, events)
    this.#clock = clock
    this.#standIn = standIn
    this.#ownTimer = this.#timerOf(leaseMs)
    this.#alarm = new Alarm(clock)
    this.#clockWatch = new ClockWatch(clock, (now, disagree) => this.#clocksSeen(now, disagree))
  }

  /** True if a stand-in renews leases while the main thread is blocked. */
  get hasStandIn(): boolean {
    return this.#standIn !== undefined
  }

  /**
   * Returns a promise that resolves when the stand-in can renew holds of this kind, and rejects if the stand-in cannot
   * start. Undefined if the stand-in is ready, or if no stand-in renews this kind.
   */
  readyFor({ renewal }: Hold['kind']): Promise<void> | undefined {
    return renewal === undefined ? this.#standIn?.ready() : undefined
  }

  /** Begins to check the hold. The alarm ends the hold when its validity ends. */
  track(hold: Hold): void {
    this.#fixed.add(hold)
    this.#alarm.track(hold)
    if (this.#clockWatch.start()) this.#ownTimer.start()
  }

  /** Begins to renew the hold. A renewal requests the `renewMs` of the hold, or less near its limit. */
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

  /** Called when the hold was released or lost. From then on, the watchdog neither checks nor renews the hold. */
  untrack(hold: Hold): void {
    hold.list?.remove(hold)
    this.#alarm.untrack(hold)
    hold.standAlone()
  }

  /**
   * Returns how long the event loop was blocked when the validity of the hold ended, in milliseconds. Undefined if no
   * renewal was due, or if the stall was too short to prevent a renewal.
   */
  stalledMs(hold: Hold): number | undefined {
    const { renewMs, proof } = hold
    const { sentAt, validForMs } = proof
    const overAt = sentAt.monotonic + validForMs
    if (renewMs === 0 || isAtLimit(hold, overAt)) return undefined
    const stalledMs = this.#clockWatch.stalledMs(overAt)
    return stalledMs >= renewMs / 3 ? stalledMs : undefined
  }

  /**
   * Renews or checks all holds now. Called after a new connection, because the server may be another server, or may
   * have lost its data. Also called when the clocks disagree.
   */
  verifyAll(): void {
    const now = this.#clock.monotonic()
    for (const timer of this.#timers.values()) this.#addRound(timer, now)
    this.#requests.send()
  }

  /** Renews or checks these holds now. Does nothing for holds that the watchdog does not track. */
  verify(holds: readonly Hold[]): void {
    const now = this.#clock.monotonic()
    for (const timer of this.#timers.values()) {
      this.#renew(
        timer,
        holds.filter(({ current }) => timer.holds.has(current)),
        now,
      )
    }
    this.#check(holds.filter(this.#isFixed), now)
    this.#requests.send()
  }

  untrackAll(): void {
    for (const hold of this.#all) this.untrack(hold)
    this.#stopIfIdle()
  }

  tick(timer: HoldTimer, dueAt: number): void {
    this.#stopIfIdle()
    if (timer !== this.#ownTimer && timer.holds.size === 0) {
      this.#forget(timer)
      return
    }
    this.#addRound(timer, dueAt)
    this.#requests.send()
  }

  // The watchdog also checks fixed leases, because they can end early. For example, an operator may delete the key, or
  // the server's clock may jump. A fixed lease that is shorter than the time between two ticks usually ends before any
  // check.
  #addRound(timer: HoldTimer, dueAt: number): void {
    timer.round += 1
    this.#renew(timer, timer.holds.all, dueAt)
    if (timer === this.#ownTimer) this.#check(this.#fixed.all, dueAt)
  }

  #renew(timer: HoldTimer, holds: readonly Hold[], dueAt: number): void {
    this.#requests.add(timer, holds, (some) => timer.wants(some), dueAt)
  }

  #check(holds: readonly Hold[], dueAt: number): void {
    const wants = (some: readonly Hold[]) => [[some.filter(this.#isFixed), 0]] as const
    this.#requests.add(this.#ownTimer, holds, wants, dueAt)
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
    const renewed = [...this.#timers.values()].flatMap(({ holds }) => holds.all)
    return [...renewed, ...this.#fixed]
  }

  // Stops all timers if there is no hold. The release of the last hold does not call this method. So a series of short
  // holds keeps the same timers.
  #stopIfIdle(): void {
    if (this.#fixed.size > 0) return
    for (const { holds } of this.#timers.values()) if (holds.size > 0) return
    for (const timer of this.#timers.values()) this.#forget(timer)
    this.#clockWatch.stop()
    this.#clock.clear(this.#distrust)
    this.#alarm.stop()
  }

  #clocksSeen(now: Moment, disagree: boolean): void {
    this.#stopIfIdle()
    if (!disagree) return
    this.verifyAll()
    this.#endDistrusted(now.monotonic + ANSWER_MS)
  }

  // Ends holds that have expired by the wall clock and that the server has not confirmed. The alarm cannot end these
  // holds, because the monotonic clock stops while the machine is suspended.
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
}
