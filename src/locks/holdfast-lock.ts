import { NotHeldError } from '../errors.ts'
import { assertFunction } from '../input.ts'
import type { Lease } from '../lease/lease.ts'
import {
  type Acquisition,
  LOCK_OPTIONS,
  type LockOptions,
  lockArguments,
  resolveAcquisition,
  TRY_LOCK_OPTIONS,
  type TryLockOptions,
  tryLockArguments,
} from '../options.ts'
import type { Owner } from '../owner/owner.ts'
import type { LockFacts } from '../redis/answers.ts'
import { lockKeys } from '../redis/keys.ts'
import { Access } from './access.ts'
import type { Desk } from './desk.ts'
import { heldTogether } from './own-holds.ts'
import { warnOfSelfWait } from './self-wait.ts'
import { whileHeld } from './while-held.ts'

/** A lock as `inspect()` finds it. */
export type LockInfo = LockFacts

/**
 * A named lock: exclusive among all clients of one Redis, re-entrant for its owner.
 *
 * Who the owner is: you re-enter a lock exactly when you run inside code that holds it. `using` and
 * `holdfast.run` open frames; outside any frame each acquisition is an owner of its own. A lock
 * object holds nothing by itself and costs nothing; make one wherever it is needed.
 */
export class HoldfastLock {
  /** @internal */
  readonly access: Access
  readonly #desk: Desk

  /** @internal */
  constructor(name: string, rawName: string, owner: Owner | undefined, desk: Desk, fair: boolean) {
    this.#desk = desk
    this.access = new Access(name, rawName, owner, desk, fair)
  }

  get name(): string {
    return this.access.name
  }

  /**
   * Acquires the lock, and waits for it without an end. Woken by a message when it is released, by
   * the end of the holder's lease when that one dies.
   *
   * @param options a fixed lease in milliseconds, or options. Without a lease the watchdog renews
   * it until the release.
   * @returns rejects with `signal.reason` when aborted; with `InvalidArgumentError` for bad input,
   * `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`,
   * `LeaseLostError` when it re-enters a hold that turns out to be lost, `ClosedError` after
   * `close()`. Nothing is left behind then.
   */
  lock(options?: LockOptions | number): Promise<Lease>
  lock(options: LockOptions | number = {}, ...others: never[]): Promise<Lease> {
    return rejecting(() => this.#bare(lockArguments(options, others))) as Promise<Lease>
  }

  /**
   * Acquires the lock if that is possible in the time given: `tryLock()` asks once,
   * `tryLock(waitMs)` waits at most so long, `tryLock(waitMs, leaseMs)` takes a fixed lease.
   *
   * @returns the lease; null when somebody else has the lock. Never null for an outage: rejects as
   * {@link lock} does, by `waitMs` where that is given, also when Redis is down.
   */
  tryLock(waitMs?: number, leaseMs?: number): Promise<Lease | null>
  tryLock(options: TryLockOptions): Promise<Lease | null>
  tryLock(
    first?: number | TryLockOptions,
    leaseMs?: number,
    ...others: never[]
  ): Promise<Lease | null> {
    return rejecting(() => this.#bare(tryLockArguments(first, leaseMs, others)))
  }

  /**
   * Runs `fn` while holding the lock, in a frame of its own: whatever runs inside acts for the
   * holder and re-enters, through any lock object of this client.
   *
   * @param options as for {@link lock}
   * @returns what `fn` returns. Rejects with what `fn` rejects with; as {@link lock} does when the
   * lock is not acquired; with `LeaseLostError` when the lease was lost before `fn` ended, although
   * it ended well. A release that Redis does not confirm is told by the client's `error` event,
   * since the work is done.
   */
  async using<T>(fn: (lease: Lease) => Promise<T> | T, options: LockOptions = {}): Promise<T> {
    const meant = resolveAcquisition(options, LOCK_OPTIONS, Infinity)
    return (await this.#use(fn, meant)) as T
  }

  /**
   * As {@link using}, if the lock is to be had in the time given: without `waitMs` it is tried once.
   *
   * @returns what `fn` returns; null, without running `fn`, when somebody else has the lock
   */
  async tryUsing<T>(
    fn: (lease: Lease) => Promise<T> | T,
    options: TryLockOptions = {},
  ): Promise<T | null> {
    return this.#use(fn, resolveAcquisition(options, TRY_LOCK_OPTIONS, 0))
  }

  /**
   * Undoes the latest acquisition of the current owner; outside any frame, the earliest that this
   * object made.
   *
   * @returns rejects with `NotHeldError` when there is none, `LeaseLostError` when the lease had
   * been lost before, and `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm
   * it: it is then tried on in the background, and the lock ends with its lease at the latest.
   */
  async unlock(): Promise<void> {
    this.#desk.assertOpen(this.name)
    const lease = this.access.actor.held((one) => !one.scoped)
    if (lease === undefined) {
      const where =
        this.#desk.frames.current() === undefined
          ? 'outside any frame, where unlock() undoes what this very lock object acquired'
          : 'in a frame, where unlock() undoes what lock() acquired in the same frame'
      throw new NotHeldError(
        `Lock "${this.name}" was not unlocked: the caller does not hold it. It was called ${where}. ` +
          'What using() holds it releases itself; any other lease has a release() of its own.',
        this.name,
      )
    }
    if (!(await lease.release())) throw lease.hold.over()
  }

  /** Whether anybody holds the lock, as Redis has it. Rejects when Redis does not answer. */
  async isLocked(): Promise<boolean> {
    return (await this.inspect()).holder !== null
  }

  /** Whether the current owner holds the lock, as Redis has it. */
  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  /** How many acquisitions of the current owner are not released, as Redis has it; 0 for none. */
  async holdCount(): Promise<number> {
    const lease = this.access.actor.held()
    const { holder, holdCount } = await this.inspect()
    return lease !== undefined && holder === lease.owner ? holdCount : 0
  }

  /**
   * What is left of the holder's lease as Redis has it, in milliseconds; 0 when the lock is free,
   * Infinity when it was made without an expiry, which Holdfast never does.
   */
  async remainingMs(): Promise<number> {
    const { holder, ttlMs } = await this.inspect()
    return holder === null ? 0 : (ttlMs ?? Infinity)
  }

  /**
   * Takes the lock away from whoever holds it. A holder in this client is told at once; one
   * elsewhere finds out at its next renewal, or at the end of a fixed lease, and may go on until
   * then.
   *
   * @returns whether anybody held it
   */
  async forceUnlock(): Promise<boolean> {
    const from = await this.#desk.ask(this.name, 'not unlocked by force', (callMs) =>
      this.#desk.node.forceRelease(lockKeys(this.access.rawName), callMs),
    )
    if (from === '') return false
    this.#desk.find(this.access.rawName)?.forced(from)
    return true
  }

  /** Who holds the lock, how often, under which token, for how long, and how many clients wait. */
  inspect(): Promise<LockInfo> {
    return this.#desk.ask(this.name, 'not inspected', (callMs) =>
      this.#desk.node.inspect(lockKeys(this.access.rawName), callMs),
    )
  }

  async #use<T>(fn: (lease: Lease) => Promise<T> | T, meant: Acquisition): Promise<T | null> {
    assertFunction(fn)
    const frame = this.access.actor.explicit ?? this.#desk.newOwner()
    const lease = await this.#acquire(this.access.actor.enclosing() ?? frame, meant, true)
    if (lease === null) return null
    const work = () => this.#desk.frames.run(frame, () => fn(lease))
    return whileHeld(lease, work, () => lease.hold.over(), this.#desk.tell)
  }

  #bare(meant: Acquisition): Promise<Lease | null> {
    return this.#acquire(this.access.actor.bare(), meant)
  }

  #acquire(owner: Owner | undefined, meant: Acquisition, scoped = false): Promise<Lease | null> {
    this.access.assertPossible(meant)
    const { rawName, actor } = this.access
    const holder = actor.holderFor(owner)
    const held =
      owner === undefined
        ? (this.#desk.holdings.earliest(holder, rawName) ?? heldTogether(this.access))
        : undefined
    const acquirer = owner ?? this.#desk.newOwner()
    const acquiring = this.access.acquire(acquirer, meant, { holder, scoped })
    return held === undefined ? acquiring : warnOfSelfWait(this, held, acquiring)
  }
}

/** Rejects with what is thrown at once, as `async` does, but without a promise more for each call. */
function rejecting<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call()
  } catch (error) {
    return Promise.reject(error)
  }
}
