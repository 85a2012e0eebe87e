import type { LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'

interface FailedMaster {
  readonly server: { readonly whyDown: CallFailure | undefined }
}

/**
 * The pause before the next check of the same hold, in milliseconds. It doubles with each check, up
 * to `longest`.
 */
const PAUSE_MS = { first: 20, longest: 1_000 }

/** One request carries at most this many leases. */
const CHUNK = 500

/** A hold that a master may not have. */
interface Gap {
  readonly lease: LeaseToRenew
  pauseMs: number
  /**
   * When to check the hold, on `performance.now()`. If `isChecked` is true: when to forget the
   * hold.
   */
  dueAt: number
  /** True from a check of the hold until the check finds a master without the hold. */
  isChecked: boolean
}

/**
 * The holds that some masters may lack. If one more master loses such a hold, another client can
 * acquire the lock too. So the client checks the masters again until all have the hold, or the hold
 * ends.
 *
 * The client does not ask masters that are known to be down. When such a master is up again, the
 * client checks all holds. One timer serves all holds, and does not keep the process alive.
 */
export class Repairs {
  readonly #check: (leases: readonly LeaseToRenew[]) => void
  readonly #forgetMs: number
  /** The gaps by owner id. Each owner id has at most one grant. */
  readonly #gaps = new Map<string, Gap>()
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity
  #closed = false

  /**
   * @param check restores leases on masters that lack them, if a majority has them. Calls `add` for
   * each lease that a master still lacks
   * @param callMs how long one request to one master may take, in milliseconds
   */
  constructor(check: (leases: readonly LeaseToRenew[]) => void, callMs: number) {
    this.#check = check
    // A check may take two requests: one to find the missing leases, and one to restore them.
    this.#forgetMs = 2 * callMs + PAUSE_MS.longest
  }

  /** Plans a check of a hold that a master lacks, or did not confirm. */
  add(lease: LeaseToRenew): void {
    if (this.#closed || !lease.isHeld?.()) return
    const now = performance.now()
    const known = this.#gaps.get(lease.ownerId)
    if (known !== undefined && !known.isChecked) return
    const gap = known ?? { lease, pauseMs: PAUSE_MS.first, dueAt: 0, isChecked: false }
    gap.isChecked = false
    gap.dueAt = now + gap.pauseMs
    this.#gaps.set(lease.ownerId, gap)
    this.#arm(gap.dueAt)
  }

  stopAll(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#gaps.clear()
  }

  #arm(at: number): void {
    if (at >= this.#firesAt) return
    clearTimeout(this.#timer)
    this.#firesAt = at
    this.#timer = setTimeout(() => this.#work(), Math.max(1, at - performance.now())).unref()
  }

  #work(): void {
    this.#firesAt = Infinity
    const now = performance.now()
    const due: LeaseToRenew[] = []
    let next = Infinity
    for (const [name, gap] of this.#gaps) {
      // Checks a hold up to half of its pause early, so that one request checks many holds.
      const isDue = gap.dueAt - now <= (gap.isChecked ? 0 : gap.pauseMs / 2)
      if (!gap.lease.isHeld?.() || (isDue && gap.isChecked)) {
        this.#gaps.delete(name)
        continue
      }
      if (isDue) {
        due.push(gap.lease)
        gap.isChecked = true
        gap.pauseMs = Math.min(gap.pauseMs * 2, PAUSE_MS.longest)
        gap.dueAt = now + this.#forgetMs
      }
      next = Math.min(next, gap.dueAt)
    }
    if (next !== Infinity) this.#arm(next)
    for (let from = 0; from < due.length; from += CHUNK) this.#check(due.slice(from, from + CHUNK))
  }
}

/** True if the client should ask the failed master again on the same connection. */
export function isWorthChecking({ server }: FailedMaster, failure: CallFailure): boolean {
  return server.whyDown === undefined && !failure.permanent
}
