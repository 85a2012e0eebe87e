import { setTimeout as pause } from 'node:timers/promises'
import type { Moment } from '../lease/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { Grant, Released } from '../redis/answers.ts'
import { CallFailure } from '../redis/failure.ts'
import type { LockKeys } from '../redis/keys.ts'
import type { Context } from './context.ts'
import type { Health } from './health.ts'
import { Patience } from './patience.ts'
import type { Waiter } from './waiter.ts'

/** A proper answer; or null, and how long to pause before asking again. */
export interface Asked {
  readonly grant: Grant | null
  /** Before the request was sent: the moment that a lease counts from. */
  readonly sentAt: Moment
  readonly pauseMs: number
  /** Whether the request may have been granted all the same. */
  readonly unknown: boolean
}

/** A call outlives its waiter by this long: the waiter, not the call, says what its end means. */
const AFTER_THE_WAIT_MS = 20

/**
 * What one lock's contender says to Redis, and how it takes failures: they are tried again while
 * there is patience, and what stays unknown is settled in the background.
 */
export class Conversation {
  readonly keys: LockKeys
  readonly #name: string
  readonly #context: Context

  constructor(name: string, keys: LockKeys, context: Context) {
    this.#name = name
    this.keys = keys
    this.#context = context
  }

  /** @param health what it shares with others; left out when it is alone */
  patience(health?: Health): Patience {
    return new Patience(this.#name, this.#context.limits, health)
  }

  /**
   * Asks for the lock once on behalf of a waiter; a failure that ends its patience rejects it.
   *
   * @param callMs the time that the request may take, in milliseconds
   */
  async #ask(waiter: Waiter, callMs: number, send: () => Promise<Grant>): Promise<Asked> {
    waiter.asking = true
    const answeredOrNot = waiter.patience.health.asks()
    const sentAt = this.#context.clock.now()
    const lateMs = this.#context.node.lateAtMostMs
    try {
      const grant = await send()
      waiter.patience.health.answered()
      return { grant, sentAt, pauseMs: 0, unknown: false }
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      const unknown = error.kind === 'unknown'
      if (unknown) waiter.doubtUntilMs = sentAt.monotonic + callMs + lateMs
      const pauseMs = waiter.patience.failed(error, sentAt.monotonic)
      if (pauseMs === null) waiter.reject(waiter.patience.error('not acquired'))
      return { grant: null, sentAt, pauseMs: pauseMs ?? 0, unknown }
    } finally {
      answeredOrNot()
      waiter.asking = false
    }
  }

  /** Asks for a first acquisition. */
  acquire(waiter: Waiter): Promise<Asked> {
    const callMs = callMsFor(waiter)
    const wireOwner = this.#nameOf(waiter)
    return this.#ask(waiter, callMs, () =>
      this.#context.node.acquire(this.keys, wireOwner, waiter.request.leaseMs, 1, callMs),
    )
  }

  /**
   * Asks until the waiter has re-entered the hold or is settled; in the one case it calls `entered`.
   *
   * @returns whether it has; else the hold count that was raised for it is to be lowered again
   */
  async reenter(waiter: Waiter, hold: Hold, entered: () => void): Promise<boolean> {
    const { leaseMs } = waiter.request
    this.settleUnheard(waiter)
    for (hold.loseIfOver(); !waiter.settled && hold.live; ) {
      const callMs = callMsFor(waiter)
      const { grant, sentAt, pauseMs } = await this.#ask(waiter, callMs, () =>
        this.#context.node.acquire(this.keys, hold.seat.wireOwner, leaseMs, hold.count, callMs),
      )
      if (grant === null) {
        waiter.bell.still()
        if (!waiter.settled) await waiter.bell.wait(pauseMs)
      } else if (grant.kind === 'granted') {
        hold.proved(leaseMs, sentAt)
        if (waiter.settled || !hold.live) break
        hold.inDoubtUntil(waiter.doubtUntilMs)
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
  handOver(hold: Hold, waiter: Waiter, listening: number | null): Promise<Asked> {
    const { callMs } = this.patience()
    const from = { owner: hold.seat.wireOwner, token: hold.token }
    const to = { owner: this.#nameOf(waiter), leaseMs: waiter.request.leaseMs }
    return this.#ask(waiter, callMs, () =>
      this.#context.node.handOver(this.keys, from, to, listening, callMs),
    )
  }

  /**
   * Tells Redis the hold count, which was lowered. It is told as it is when sent, so that repeats
   * and others who lower it at the same time agree.
   *
   * @returns whether the lock was still held; rejects when Redis did not confirm it
   */
  async lower(hold: Hold): Promise<boolean> {
    const patience = this.patience()
    while (hold.live && hold.count > 0) {
      const answer = await this.#tell(hold, patience, 'one of its acquisitions was not released')
      if (answer?.kind === 'kept') return true
      if (answer?.kind === 'gone') hold.loseGone()
    }
    return hold.loss === undefined
  }

  /**
   * Frees the lock.
   *
   * @param mayBeDone whether an earlier request may have freed it, so that "gone" is no loss
   * @returns how many listeners were told; null when the lock was not held any more. Rejects when
   * Redis did not confirm it.
   */
  async free(hold: Hold, mayBeDone: boolean): Promise<number | null> {
    const patience = this.patience()
    for (let again = mayBeDone; ; again = true) {
      const answer = await this.#tell(hold, patience, 'its release was not confirmed')
      if (answer === undefined) continue
      if (hold.doubtUntilMs > performance.now()) this.settle(hold)
      else hold.owner.giveBackNameOn(this.keys.lock, hold.seat.wireOwner)
      if (answer.kind === 'freed') return answer.listeners
      return again ? 0 : null
    }
  }

  /** Makes the lease last at least this long from now. */
  async extend(hold: Hold, leaseMs: number): Promise<void> {
    const patience = this.patience()
    for (hold.loseIfOver(); hold.live; ) {
      const sentAt = this.#context.clock.now()
      const [left] = await this.#context.node.renew([hold.seat], leaseMs, patience.callMs)
      if (left instanceof CallFailure) {
        const pauseMs = patience.failed(left, sentAt.monotonic)
        if (pauseMs === null) throw patience.error('its lease was not extended')
        await pause(pauseMs)
      } else if (left === -2) {
        if (hold.live) hold.loseGone()
      } else {
        hold.proved(leaseMs, sentAt)
        if (hold.live) return
      }
    }
    throw hold.over()
  }

  /** Goes on releasing in the background. The name of the hold is not used again. */
  settle(hold: Hold): void {
    this.#settle(hold.seat.wireOwner, hold.doubtUntilMs, hold.leaseMs)
  }

  /** The waiter has no more use for its name: what it was not answered may be granted, or be yet. */
  settleUnheard(waiter: Waiter): void {
    const { wireOwner, doubtUntilMs, request } = waiter
    if (wireOwner === undefined) return
    waiter.wireOwner = undefined
    waiter.doubtUntilMs = 0
    if (doubtUntilMs > 0) this.#settle(wireOwner, doubtUntilMs, request.leaseMs)
    else request.owner.giveBackNameOn(this.keys.lock, wireOwner)
  }

  /** The name that the waiter asks under: its own until it is granted, or has given up. */
  #nameOf(waiter: Waiter): string {
    waiter.wireOwner ??= waiter.request.owner.takeNameOn(this.keys.lock)
    return waiter.wireOwner
  }

  #settle(wireOwner: string, untilMs: number, leaseMs: number): void {
    this.#context.settler.settle({ keys: this.keys, wireOwner, untilMs, leaseMs })
  }

  /** @returns the answer to a release; undefined when it is to be told again */
  async #tell(hold: Hold, patience: Patience, failed: string): Promise<Released | undefined> {
    const sentAt = performance.now()
    try {
      return await this.#context.node.release(
        this.keys,
        hold.seat.wireOwner,
        hold.count,
        hold.token,
        patience.callMs,
      )
    } catch (error) {
      const pauseMs = patience.failed(error as CallFailure, sentAt)
      if (pauseMs === null) {
        if (hold.count === 0) this.settle(hold)
        throw patience.error(failed)
      }
      await pause(pauseMs)
      return undefined
    }
  }
}

function callMsFor({ patience, leftMs }: Waiter): number {
  return Math.min(patience.callMs, leftMs + AFTER_THE_WAIT_MS)
}
