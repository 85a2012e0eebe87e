import type { ClosedError, LeaseLostError } from '../errors.ts'
import type { HoldEvent } from '../events.ts'
import type { Moment } from '../lease/clock.ts'
import { Hold } from '../lease/hold.ts'
import type { Owner } from '../owner/owner.ts'
import { CallFailure } from '../redis/failure.ts'
import type { Context } from './context.ts'
import type { Conversation } from './conversation.ts'
import type { Request, Waiter } from './waiter.ts'

/** Who has one lock in this client: one hold at a time, from its grant to its end or loss. */
export class Tenancy {
  readonly #name: string
  readonly #context: Context
  readonly #talk: Conversation
  readonly #onLost: () => void
  #hold: Hold | null = null
  /** The token of the hold that ended last: an answer heard of after its end grants nothing. */
  #endedToken = 0
  /** Owners whose last release is under way: they ask again when it is settled. */
  readonly #leaving = new Map<Owner, Promise<unknown>>()

  /** @param onLost called when the lock is not in this client's hands any more */
  constructor(name: string, context: Context, talk: Conversation, onLost: () => void) {
    this.#name = name
    this.#context = context
    this.#talk = talk
    this.#onLost = onLost
  }

  /** The hold that is not released, and not known to be lost. */
  get hold(): Hold | null {
    return this.#hold?.live ? this.#hold : null
  }

  /** Settles when the last release of this owner has; undefined when none is under way. */
  leaving(owner: Owner): Promise<unknown> | undefined {
    return this.#leaving.get(owner)
  }

  /** @returns the hold that a grant makes; null when it came too late to be of use */
  granted(waiter: Waiter, token: number, sentAt: Moment): Hold | null {
    const { request, wireOwner } = waiter
    if (this.hold?.token === token) {
      this.#takeDoubt(waiter, this.hold)
      return this.hold // Asked for twice at once.
    }
    if (token === this.#endedToken) return null // Granted before that hold ended, heard of after.
    const hold = new Hold(
      {
        lockName: this.#name,
        owner: request.owner,
        seat: { key: this.#talk.keys.lock, wireOwner },
        token,
        leaseMs: request.leaseMs,
        sentAt,
      },
      this.#context.clock,
      (lost, error) => this.#lost(lost, error),
    )
    if (hold.remainingMs() > 0) {
      this.#takeDoubt(waiter, hold)
      return hold
    }
    // Asking again renews it; if that comes to nothing it is in doubt, and will be settled.
    hold.end()
    waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, performance.now())
    const late = new CallFailure('unknown', 'it answered only after the lease had run out')
    if (waiter.patience.failed(late, sentAt.monotonic) === null) {
      waiter.reject(waiter.patience.error('not acquired'))
    }
    return null
  }

  /** What was asked in vain before the grant is settled when the hold has ended, not under it. */
  #takeDoubt(waiter: Waiter, hold: Hold): void {
    hold.doubtUntilMs = Math.max(hold.doubtUntilMs, waiter.doubtUntilMs)
    waiter.doubtUntilMs = 0
  }

  /** @param waitedMs how long it was waited for */
  begin(hold: Hold, waitedMs: number): void {
    this.hold?.lose('gone', 'Redis gave the lock to another owner')
    this.#hold = hold
    this.#context.keeper.keep(hold)
    this.#context.tell('acquired', { ...eventOf(hold), waitedMs })
  }

  /** One more acquisition that the watchdog keeps, if it does. */
  watch(hold: Hold, request: Request): void {
    if (!request.watched) return
    hold.watched += 1
    if (hold.watched === 1) this.#context.keeper.watch(hold)
  }

  unwatch(hold: Hold): void {
    hold.watched -= 1
    if (hold.watched === 0) this.#context.keeper.unwatch(hold)
  }

  /**
   * Ends the hold for its owner at once.
   *
   * @param free what tells Redis, and {@link left} what it heard
   */
  end(hold: Hold, reason: ClosedError | undefined, free: () => Promise<boolean>): Promise<boolean> {
    this.#context.keeper.forget(hold)
    hold.end(reason)
    this.#hold = null
    this.#endedToken = hold.token
    const work = free()
    this.#leaving.set(hold.owner, work)
    const done = () => {
      if (this.#leaving.get(hold.owner) === work) this.#leaving.delete(hold.owner)
    }
    work.then(done, done)
    return work
  }

  /** @returns whether the lock was still held when Redis was told of its end */
  left(hold: Hold, wasHeld: boolean): boolean {
    if (wasHeld) this.#context.tell('released', eventOf(hold))
    else hold.loseGone()
    return wasHeld
  }

  #lost(hold: Hold, error: LeaseLostError): void {
    this.#context.keeper.forget(hold)
    // Redis may have it under the old name for a moment yet; that must not pass for a new grant.
    hold.owner.renameOn(this.#talk.keys.lock)
    this.#context.tell('lost', { ...eventOf(hold), error })
    if (this.#hold !== hold) return
    this.#hold = null
    this.#endedToken = hold.token
    this.#onLost()
  }
}

function eventOf(hold: Hold): HoldEvent {
  return { name: hold.lockName, owner: hold.seat.wireOwner, token: hold.token }
}
