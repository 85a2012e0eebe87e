import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import type { Presence } from '../servers/presence.ts'

/**
 * A wait is reported only after this many milliseconds. This time is also the interval between two
 * reports.
 */
const REPORT_MS = 1_000

/**
 * The largest number of locks in one report. The report contains the locks with the longest waits.
 */
const MOST = 100

/** The report rounds the moment when the client began to keep a lock to this many milliseconds. */
const ROUNDED_MS = 100

/** A lock whose key has more characters than this is not reported. */
const LONGEST_NAME = 255

interface ReportedLock {
  readonly rawName: string
  /** `keptMs` is how long the client has kept the lock without use, in ms; undefined if it does not keep the lock. */
  readonly kept?: { readonly keptMs: number | undefined } | undefined
  readonly waiters: { readonly oldest: ReportedWaiter | undefined }
}

interface ReportedWaiter {
  readonly waitedMs: number
}

interface Since {
  readonly waiter: ReportedWaiter
  /** When this waiter began to wait, in milliseconds since 1970 on the wall clock of the client. */
  readonly since: number
}

/**
 * Reports which locks this client waits for, and since when. Tools read these reports to list the waiters of plain
 * locks, because the keys of a plain lock do not name its waiters. Also reports which locks this client keeps without
 * use. No lock depends on these reports.
 */
export class WaitReports {
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #locks = new Map<ReportedLock, Since | undefined>()
  #timer: Timer | undefined
  #reported = '{}'

  constructor({ presence, clock }: { readonly presence: Presence; readonly clock: Clock }) {
    this.#presence = presence
    this.#clock = clock
  }

  /** Called when a waiter of this client must wait for the lock, or when this client begins to keep the lock. */
  began(lock: ReportedLock): void {
    if (this.#locks.has(lock)) return
    this.#locks.set(lock, undefined)
    this.#reportLater()
  }

  /** Called when this client neither waits for the lock nor keeps it any longer. */
  waitEnded(lock: ReportedLock): void {
    if (this.#locks.delete(lock) && this.#locks.size === 0) this.#report('{}')
  }

  stopTimer(): void {
    this.#clock.clear(this.#timer)
  }

  #reportLater(): void {
    this.#timer ??= outsideContexts(() => this.#clock.after(REPORT_MS, () => this.#fire())).unref()
  }

  #fire(): void {
    this.#timer = undefined
    if (this.#locks.size === 0) return
    const now = this.#clock.now().wall
    const locks = [...this.#locks.keys()]
    const waits = locks.flatMap((lock) => this.#waitOf(lock, now) ?? [])
    waits.sort(([, a], [, b]) => a - b)
    const kept = locks.flatMap((lock) => keptOf(lock, now) ?? [])
    const all = [...waits.slice(0, MOST), ...kept.slice(0, MOST)]
    this.#report(JSON.stringify(Object.fromEntries(all)))
    this.#reportLater()
  }

  #waitOf(lock: ReportedLock, now: number): readonly [key: string, since: number][] | undefined {
    const waiter = lock.waiters.oldest
    if (waiter === undefined || waiter.waitedMs < REPORT_MS || lock.rawName.length > LONGEST_NAME) {
      return
    }
    const known = this.#locks.get(lock)
    const since = known?.waiter === waiter ? known.since : Math.round(now - waiter.waitedMs)
    this.#locks.set(lock, { waiter, since })
    return [[lock.rawName, since]]
  }

  #report(waits: string): void {
    if (waits === this.#reported) return
    this.#reported = waits
    this.#presence.reportWaits(waits)
  }
}

/**
 * Returns since when the client keeps the lock. The time is in a list, because a plain number in the report is the
 * beginning of a wait.
 */
function keptOf(
  { rawName, kept }: ReportedLock,
  now: number,
): readonly [key: string, since: readonly number[]][] | undefined {
  const keptMs = kept?.keptMs
  if (keptMs === undefined || keptMs < REPORT_MS || rawName.length > LONGEST_NAME) return undefined
  // Because of the rounding, the next report usually has the same time.
  return [[rawName, [Math.round((now - keptMs) / ROUNDED_MS) * ROUNDED_MS]]]
}
