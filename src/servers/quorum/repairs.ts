import type { Granted, LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { Vote } from './ask-all.ts'
import { isAnswer, isGranted, type Votes } from './majority.ts'
import type { Master } from './master.ts'

/** How long to pause before the masters are looked at again, in milliseconds. */
const PAUSE_MS = { first: 20, longest: 1_000 }

/** One request carries at most this many leases. */
const CHUNK = 500

/** A hold that some master does not have, as far as is known. */
interface Gap {
  readonly lease: LeaseToRenew
  pauseMs: number
  /** When to look, on `performance.now()`; or, once it was looked at, to forget it. */
  dueAt: number
  /** Whether it was looked at since a master was last found without it. */
  lookedAt: boolean
}

/**
 * Holds that a bare majority may have: one lost key more, and others could have the lock too. So those
 * masters that did not grant it, or did not say so, are asked again, by one timer for all holds, while
 * the hold lives. Those that are known to be down are left alone: when they are up again all holds
 * are looked at. It keeps no process alive.
 */
export class Repairs {
  readonly #look: (leases: readonly LeaseToRenew[]) => void
  readonly #forgetMs: number
  /** By the name in Redis, which is used once. */
  readonly #gaps = new Map<string, Gap>()
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity
  #closed = false

  /**
   * @param look gives the lease to masters that do not have it where a majority does, and calls `add` for
   * those that it finds wanting all the same
   * @param callMs how long one master may take for one request, in milliseconds
   */
  constructor(look: (leases: readonly LeaseToRenew[]) => void, callMs: number) {
    this.#look = look
    // A look may take a request, and then another one for what is given back.
    this.#forgetMs = 2 * callMs + PAUSE_MS.longest
  }

  /** Some master does not have it, or did not say that it does. */
  add(lease: LeaseToRenew): void {
    if (this.#closed || !lease.isHeld?.()) return
    const now = performance.now()
    const known = this.#gaps.get(lease.wireOwner)
    if (known !== undefined && !known.lookedAt) return
    const gap = known ?? { lease, pauseMs: PAUSE_MS.first, dueAt: 0, lookedAt: false }
    gap.lookedAt = false
    gap.dueAt = now + gap.pauseMs
    this.#gaps.set(lease.wireOwner, gap)
    this.#arm(gap.dueAt)
  }

  /** Of one attempt to get a lock from a majority. */
  newMissedVotes(): MissedVotes {
    return new MissedVotes(this)
  }

  close(): void {
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
      // What has paused for long can wait a little less: so that many are looked at together.
      const isDue = gap.dueAt - now <= (gap.lookedAt ? 0 : gap.pauseMs / 2)
      if (!gap.lease.isHeld?.() || (isDue && gap.lookedAt)) {
        this.#gaps.delete(name)
        continue
      }
      if (isDue) {
        due.push(gap.lease)
        gap.lookedAt = true
        gap.pauseMs = Math.min(gap.pauseMs * 2, PAUSE_MS.longest)
        gap.dueAt = now + this.#forgetMs
      }
      next = Math.min(next, gap.dueAt)
    }
    if (next !== Infinity) this.#arm(next)
    for (let from = 0; from < due.length; from += CHUNK) this.#look(due.slice(from, from + CHUNK))
  }
}

/** Who is missing from a majority, be it known before or after the lock was had. */
class MissedVotes {
  readonly #repairs: Repairs
  #lease: (() => LeaseToRenew) | undefined
  #isMissed = false
  /** Hears what comes when a majority has decided. */
  readonly late = (vote: Vote<Master, unknown | CallFailure>): void => {
    if (this.#isMissed || !isMissing(vote)) return
    this.#isMissed = true
    if (this.#lease !== undefined) this.#repairs.add(this.#lease())
  }

  constructor(repairs: Repairs) {
    this.#repairs = repairs
  }

  /** @returns the same grant, for whoever has the lock by it */
  won(grant: Granted, votes: Votes<unknown, Master>): Granted {
    this.#isMissed ||= votes.some(isMissing)
    const onHeld = (lease: () => LeaseToRenew) => {
      this.#lease = lease
      if (this.#isMissed) this.#repairs.add(lease())
    }
    return { ...grant, onHeld }
  }
}

function isMissing(vote: Vote<Master, unknown | CallFailure>): boolean {
  if (isAnswer(vote.answer)) return !isGranted(vote as Parameters<typeof isGranted>[0])
  return isWorthAsking(vote.member, vote.answer as CallFailure)
}

/** Whether a master that failed is to be asked again before it connects anew. */
export function isWorthAsking({ server }: Master, failure: CallFailure): boolean {
  return server.whyDown === undefined && !failure.permanent
}
