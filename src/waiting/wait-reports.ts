import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import type { Presence } from '../servers/presence.ts'

/** Shorter waits are not reported, and reports are at least so far apart, in milliseconds. */
const REPORT_MS = 1_000

/** At most so many locks are in one report: those that were waited for longest. */
const MOST = 100

/** Locks with longer names are left out. */
const LONGEST_NAME = 255

/** One lock of the client. */
interface Lock {
  readonly rawName: string
  readonly waiters: { readonly oldest: Waiter | undefined }
}

interface Waiter {
  readonly waitedMs: number
}

interface Since {
  readonly waiter: Waiter
  /** When the wait began, on the wall clock of the client, in milliseconds. */
  readonly since: number
}

/**
 * Reports since when this client waits for which locks, so that tools can list the waiters of a plain lock, whose keys
 * have nothing of them. No lock depends on it.
 */
export class WaitReports {
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #locks = new Map<Lock, Since | undefined>()
  #timer: Timer | undefined
  #reported = '{}'

  constructor({ presence, clock }: { readonly presence: Presence; readonly clock: Clock }) {
    this.#presence = presence
    this.#clock = clock
  }

  /** Somebody in this client has to wait for the lock. */
  began(lock: Lock): void {
    if (this.#locks.has(lock)) return
    this.#locks.set(lock, undefined)
    this.#reportLater()
  }

  /** Nobody in this client waits for the lock any more. */
  ended(lock: Lock): void {
    if (this.#locks.delete(lock) && this.#locks.size === 0) this.#report('{}')
  }

  close(): void {
    this.#clock.clear(this.#timer)
  }

  #reportLater(): void {
    this.#timer ??= outsideContexts(() => this.#clock.after(REPORT_MS, () => this.#fire())).unref()
  }

  #fire(): void {
    this.#timer = undefined
    if (this.#locks.size === 0) return
    const now = this.#clock.now().wall
    const waits = [...this.#locks.keys()].flatMap((lock) => this.#waitOf(lock, now) ?? [])
    waits.sort(([, a], [, b]) => a - b)
    this.#report(JSON.stringify(Object.fromEntries(waits.slice(0, MOST))))
    this.#reportLater()
  }

  #waitOf(lock: Lock, now: number): readonly [key: string, since: number][] | undefined {
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
