import type { Moment } from '../lease/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type {
  AcquireAnswer,
  HandOverAnswer,
  QueueAnswer,
  ReenterAnswer,
} from '../servers/answers.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { RESERVE } from './hand-over-budget.ts'
import type { LockSite } from './lock-site.ts'
import { toRenew } from './server-renewer.ts'
import type { Services } from './services.ts'

type Answer = AcquireAnswer | HandOverAnswer | QueueAnswer | ReenterAnswer

/** A proper answer; or null, and how long to pause before asking again. */
export interface Asked<A extends Answer> {
  readonly grant: A | null
  /** Before the request was sent: the moment that a lease counts from. */
  readonly sentAt: Moment
  readonly pauseMs: number
  /** Whether the request may have been granted all the same. */
  readonly unknown: boolean
}

/** A call outlives its waiter by this long: the waiter, not the call, says what its end means. */
const AFTER_THE_WAIT_MS = 20

/**
 * What one lock's lock asks of Redis for those who wait, and how it takes failures: they are
 * tried again within the retry budget, and what stays unknown is released in the background.
 */
export class AcquireRequests {
  readonly #site: LockSite
  readonly #services: Services

  constructor(site: LockSite) {
    this.#site = site
    this.#services = site.services
  }

  /**
   * Asks for the lock once on behalf of a waiter; a failure that uses up its retry budget rejects it.
   *
   * @param callMs the time that the request may take, in milliseconds
   */
  async ask<A extends Answer>(
    waiter: Waiter,
    callMs: number,
    send: () => Promise<A>,
  ): Promise<Asked<A>> {
    waiter.asking = true
    const answeredOrNot = waiter.retryBudget.health.asks()
    const sentAt = this.#services.clock.now()
    const lateMs = this.#services.server.lateAtMostMs
    try {
      const grant = await send()
      // A grant is a proper answer where it comes in time to be of use.
      const unasked = grant.kind === 'held' && grant.unasked
      if (grant.kind !== 'granted' && !unasked) waiter.retryBudget.answered(sentAt.monotonic)
      if ((grant.kind === 'held' || grant.kind === 'yielded') && grant.split !== undefined) {
        // Some of several masters granted it, or may yet: the name is not used again.
        if (grant.split.unsure) this.#inDoubt(waiter, sentAt.monotonic + callMs, lateMs)
        waiter.asking = false
        this.abandonName(waiter)
      }
      return { grant, sentAt, pauseMs: 0, unknown: false }
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      const unknown = error.kind === 'unknown'
      // What is asked together is sent when all have asked.
      const latestMs = waiter.request.asksOnce ? performance.now() : sentAt.monotonic
      if (unknown) this.#inDoubt(waiter, latestMs + callMs, lateMs)
      // Given up with its waiter, before an answer could be expected: that says nothing of Redis.
      const silentMs = performance.now() - sentAt.monotonic
      const saysNothing = unknown && waiter.settled && !waiter.retryBudget.isUnusual(silentMs)
      const pauseMs = saysNothing ? 0 : waiter.retryBudget.failed(error, sentAt.monotonic)
      if (pauseMs === null) waiter.reject(waiter.retryBudget.error('not acquired'))
      return { grant: null, sentAt, pauseMs: pauseMs ?? 0, unknown }
    } finally {
      answeredOrNot()
      waiter.asking = false
    }
  }

  /**
   * Asks for a first acquisition.
   *
   * @param reserve how many tokens to ask for beside the one
   */
  acquire(waiter: Waiter, reserve: number): Promise<Asked<AcquireAnswer>> {
    const callMs = callMsFor(waiter)
    const owner = this.nameOf(waiter)
    const { leaseMs, together = this.#site.remote } = waiter.request
    return this.ask(waiter, callMs, () => together.acquire({ owner, leaseMs, reserve, callMs }))
  }

  /**
   * Asks until the waiter has re-entered the hold or is settled; in the one case it calls `entered`.
   *
   * @returns whether it has; else the hold count that was raised for it is to be lowered again
   */
  async reenter(waiter: Waiter, hold: Hold, entered: () => void): Promise<boolean> {
    const { leaseMs } = waiter.request
    this.abandonName(waiter)
    for (hold.loseIfOver(); !waiter.settled && hold.live; ) {
      const callMs = callMsFor(waiter)
      const { grant, sentAt, pauseMs } = await this.ask(waiter, callMs, () =>
        this.#site.remote.reenter({
          owner: hold.id.wireOwner,
          token: hold.lastToken,
          holds: hold.count,
          leaseMs,
          callMs,
        }),
      )
      if (grant === null) {
        waiter.wakeEvent.reset()
        if (!waiter.settled) await waiter.wakeEvent.wait(pauseMs)
      } else if (grant.kind === 'granted') {
        hold.proved(leaseMs, sentAt)
        waiter.retryBudget.answered(sentAt.monotonic)
        if (waiter.settled || !hold.live) break
        hold.inDoubtUntil(waiter.doubtUntilMs)
        grant.onHeld?.(() => toRenew(hold))
        entered()
        return true
      } else if (hold.live) {
        hold.loseGone()
      }
    }
    hold.inDoubtUntil(waiter.doubtUntilMs)
    if (!waiter.settled) waiter.reject(hold.over())
    return false
  }

  /**
   * Asks for the lock to pass from a hold that ends to a waiter of this client.
   *
   * @param listening how many listeners are this client's own, when it is to yield to others; else
   * null
   */
  handOver(hold: Hold, waiter: Waiter, listening: number | null): Promise<Asked<HandOverAnswer>> {
    const { callMs } = this.#site.retryBudget()
    const from = { owner: hold.id.wireOwner, token: hold.lastToken }
    const to = { owner: this.nameOf(waiter), leaseMs: waiter.request.leaseMs }
    return this.ask(waiter, callMs, () =>
      this.#site.remote.handOver({ from, to, listening, reserve: RESERVE, callMs }),
    )
  }

  /** The waiter has no more use for its name: what it was not answered may be granted, or be yet. */
  abandonName(waiter: Waiter): void {
    const { wireOwner, doubtUntilMs, request, queued } = waiter
    if (wireOwner === undefined) return
    waiter.wireOwner = undefined
    waiter.doubtUntilMs = 0
    waiter.queued = false
    if (doubtUntilMs > 0 || queued) {
      this.#site.abandon(wireOwner, doubtUntilMs, request.leaseMs, request.fair)
    }
  }

  /** @param lateMs how late a request could be as far as was known when this one was sent */
  #inDoubt(waiter: Waiter, endsAtMs: number, lateMs: number): void {
    // More is known once it is connected, and the next server may be nearer.
    const untilMs = endsAtMs + Math.max(lateMs, this.#services.server.lateAtMostMs)
    waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, untilMs)
  }

  /** The name that the waiter asks under: its own until it is granted, or has given up. */
  nameOf(waiter: Waiter): string {
    waiter.wireOwner ??= waiter.request.owner.newName()
    return waiter.wireOwner
  }
}

/** How long the next request of the waiter may take, in milliseconds. */
export function callMsFor({ retryBudget, leftMs }: Waiter): number {
  return Math.min(retryBudget.callMs, leftMs + AFTER_THE_WAIT_MS)
}
