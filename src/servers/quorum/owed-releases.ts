import { setTimeout as pause } from 'node:timers/promises'
import type { Released } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { LockKeys } from '../redis/keys.ts'

/** A name on one lock that is not used again, and may have the lock there still. */
export interface OwedRelease {
  readonly keys: LockKeys
  readonly owner: string
  /** Until when a request that was given up could still take it, on `performance.now()`. */
  readonly doubtUntilMs: number
  /** When the longest lease that it could have would be over. */
  readonly endsAtMs: number
}

/** How long to pause before trying again, in milliseconds. */
const PAUSE_MS = { first: 50, longest: 1_000, closing: 20 }

/** Once one has been answered the others are told so many at a time. */
const AT_ONCE = 50

/**
 * Releases that one master of several did not confirm, whatever the others did: they are told again
 * until it does, or until the lease would be over. It keeps no process alive.
 */
export class OwedReleases {
  readonly #release: (debt: OwedRelease) => Promise<Released>
  readonly #open = new Set<OwedRelease>()
  /** By name, what is told at the moment. */
  readonly #underWay = new Map<string, Promise<unknown>>()
  /** The names that were freed, or may have been, and when the longest lease of each would be over. */
  readonly #freed = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #pauseMs = PAUSE_MS.first
  #working: Promise<void> | undefined
  #closed = false

  /** @param release ends all that the name has on the lock */
  constructor(release: (debt: OwedRelease) => Promise<Released>) {
    this.#release = release
  }

  get size(): number {
    return this.#open.size
  }

  add(debt: OwedRelease): void {
    if (this.#closed) return
    this.#open.add(debt)
    this.#arm()
  }

  /**
   * Whether the name was freed here, or may have been. Where no majority heard of a release its caller
   * tells it again as well, and "gone" is then no loss. Ends when nothing is told of that name.
   */
  async hasFreed(owner: string): Promise<boolean> {
    await this.#underWay.get(owner)
    return this.#freed.has(owner)
  }

  /** The master can be reached again. */
  tryNow(): void {
    this.#pauseMs = PAUSE_MS.first
    if (this.#open.size > 0) void this.#work()
  }

  /** One more try while everything is being closed. */
  async hurry(): Promise<void> {
    await this.#work()
    if (this.#open.size > 0) await pause(PAUSE_MS.closing)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#open.clear()
    this.#freed.clear()
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#working !== undefined) return
    this.#timer = setTimeout(() => void this.#work(), this.#pauseMs).unref()
    this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS.longest)
  }

  #work(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#working ??= this.#settleAll().finally(() => {
      this.#working = undefined
      if (this.#open.size > 0) this.#arm()
    })
    return this.#working
  }

  /** Tells each once, and stops where the master does not answer. */
  async #settleAll(): Promise<void> {
    const all = [...this.#open]
    for (let from = 0, atOnce = 1; from < all.length; from += atOnce, atOnce = AT_ONCE) {
      const some = all.slice(from, from + atOnce)
      const answered = await Promise.all(some.map((debt) => this.#settle(debt)))
      if (answered.includes(false)) return
    }
  }

  /** @returns whether it was answered */
  async #settle(debt: OwedRelease): Promise<boolean> {
    const sentAt = performance.now()
    try {
      if (sentAt < debt.endsAtMs) await this.#tell(debt)
      // A request in doubt may come behind: then it is told once more.
      if (sentAt >= debt.doubtUntilMs) this.#open.delete(debt)
      return true
    } catch (failure) {
      // The next one may be luckier.
      if (this.#open.delete(debt) && !(failure as CallFailure).permanent) this.#open.add(debt)
      return (failure as CallFailure).permanent
    }
  }

  async #tell(debt: OwedRelease): Promise<void> {
    const telling = this.#release(debt).then(
      ({ kind }) => {
        if (kind === 'freed') this.#remember(debt)
      },
      (failure: CallFailure) => {
        if (failure.kind === 'unknown') this.#remember(debt)
        throw failure
      },
    )
    this.#underWay.set(
      debt.owner,
      telling.catch(() => {}),
    )
    await telling.finally(() => this.#underWay.delete(debt.owner))
  }

  #remember({ owner, endsAtMs }: OwedRelease): void {
    if (this.#closed) return
    const now = performance.now()
    for (const [name, untilMs] of this.#freed) {
      if (untilMs > now) break
      this.#freed.delete(name)
    }
    this.#freed.set(owner, endsAtMs)
  }
}
