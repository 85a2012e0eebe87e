import { setTimeout as pause } from 'node:timers/promises'
import type { Hold } from '../lease/hold.ts'
import type { Released } from '../servers/answers.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { RetryBudget } from '../waiting/retry-budget.ts'
import type { LockSite } from './lock-site.ts'
import { toRenew } from './server-renewer.ts'
import type { Services } from './services.ts'

/** Who heard of the end of a hold. */
type Freed = Omit<Extract<Released, { kind: 'freed' }>, 'kind'>

/** A release without an answer. */
interface Failed {
  readonly kind: 'failed'
  /** Whether it may have been done all the same. */
  readonly unknown: boolean
}

/**
 * What one lock's lock tells Redis of its holds, and how it takes failures: they are tried
 * again within the retry budget, and what stays unknown is released in the background.
 */
export class HoldRequests {
  readonly #site: LockSite
  readonly #services: Services

  constructor(site: LockSite) {
    this.#site = site
    this.#services = site.services
  }

  /**
   * Tells Redis the hold count, which was lowered. It is told as it is when sent, so that repeats
   * and others who lower it at the same time agree.
   *
   * @returns whether the lock was still held; rejects when Redis did not confirm it
   */
  async lower(hold: Hold): Promise<boolean> {
    const retryBudget = this.#site.retryBudget()
    while (hold.live && hold.count > 0) {
      const answer = await this.#tell(hold, retryBudget, 'one of its acquisitions was not released')
      if (answer.kind === 'kept') return true
      // Where the last release came first it tells what there was to end.
      if (answer.kind === 'gone' && hold.live) hold.loseGone()
    }
    return hold.loss === undefined
  }

  /**
   * Frees the lock.
   *
   * @param mayBeDoneAt when an earlier request was sent that may have freed it, so that "gone" is no
   * loss; one that was never sent, or was refused, has freed nothing
   * @returns who was told, or who follows; null when the lock was not held any more. Rejects when
   * Redis did not confirm it.
   */
  async free(hold: Hold, mayBeDoneAt?: number): Promise<Freed | null> {
    const retryBudget = this.#site.retryBudget()
    const sentAt = mayBeDoneAt ?? performance.now()
    for (let maybe = mayBeDoneAt !== undefined; ; ) {
      const answer = await this.#tell(hold, retryBudget, 'its release was not confirmed')
      if (answer.kind === 'failed') {
        maybe ||= answer.unknown
        continue
      }
      this.ended(hold, sentAt)
      if (answer.kind === 'freed') return answer
      return maybe ? { listeners: 0 } : null
    }
  }

  /** Makes the lease last at least this long from now; rejects when that was not confirmed. */
  async extend(hold: Hold, leaseMs: number): Promise<void> {
    if (!(await this.lengthen(hold, leaseMs))) throw hold.over()
  }

  /**
   * The same for a hold that may end meanwhile.
   *
   * @param longestCallMs asks again after this, in milliseconds
   * @returns whether it is held, and was lengthened
   */
  async lengthen(hold: Hold, leaseMs: number, longestCallMs = Infinity): Promise<boolean> {
    const retryBudget = this.#site.retryBudget()
    for (hold.loseIfOver(); hold.live; ) {
      const sentAt = this.#services.clock.now()
      const callMs = Math.min(retryBudget.callMs, longestCallMs)
      // It may reach Redis without an answer.
      hold.untouched = false
      hold.leaseMs = Math.max(hold.leaseMs, leaseMs)
      const [left] = await this.#services.server.renew([toRenew(hold)], leaseMs, callMs)
      if (left instanceof CallFailure) {
        const pauseMs = retryBudget.failed(left, sentAt.monotonic)
        if (pauseMs === null) throw retryBudget.error('its lease was not extended')
        await pause(pauseMs)
      } else if (left === -2) {
        if (hold.live) hold.loseGone()
      } else {
        hold.proved(leaseMs, sentAt)
        if (hold.live) return true
      }
    }
    return false
  }

  /**
   * Redis has nothing of it any more; unless a request on its way takes it again, which may have come
   * after the one that ended it.
   *
   * @param sentAtMs when the first request was sent that may have ended it, on `performance.now()`
   */
  ended(hold: Hold, sentAtMs: number): void {
    if (hold.doubtUntilMs > sentAtMs) this.abandon(hold)
  }

  /** Goes on releasing in the background. */
  abandon(hold: Hold): void {
    this.#site.abandon(hold.id.wireOwner, hold.doubtUntilMs, hold.leaseMs, hold.fair)
  }

  /** @returns the answer to a release, or that it is to be told again */
  #tell(hold: Hold, retryBudget: RetryBudget, failed: string): Promise<Released | Failed> {
    const sentAt = performance.now()
    const { id, count, lastToken, fair } = hold
    const told: Promise<Released | Failed> = this.#site.release(
      id.wireOwner,
      count,
      lastToken,
      fair,
      retryBudget.callMs,
    )
    return told.catch(async (failure: CallFailure) => {
      const pauseMs = retryBudget.failed(failure, sentAt)
      if (pauseMs === null) {
        if (hold.count === 0) this.abandon(hold)
        throw retryBudget.error(failed)
      }
      await pause(pauseMs)
      return { kind: 'failed', unknown: failure.kind === 'unknown' }
    })
  }
}
