import { assertFunction } from '../../input.ts'
import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import {
  type Acquisition,
  LOCK_OPTIONS,
  type LockOptions,
  lockArguments,
  resolveAcquisition,
  TRY_LOCK_OPTIONS,
  type TryLockOptions,
  tryLockArguments,
} from '../../options.ts'
import type { Owner } from '../../owner/owner.ts'
import type { LockFacts } from '../../servers/answers.ts'
import { LockAccess } from './lock-access.ts'
import { runWhileHeld } from './run-while-held.ts'
import { alone, ownSelfWait, selfWaitInFrame, warnOfSelfWait } from './self-wait-warning.ts'
import { endedByUnlock, lostBefore, notHeld } from './unlock-errors.ts'

/** A lock as `inspect()` finds it. */
export type LockInfo = LockFacts

/**
 * A named lock: exclusive among all clients of one Redis, re-entrant for its owner.
 *
 * Who the owner is: you re-enter a lock exactly when you run inside code that holds it. `using` opens a
 * frame for its lock, `holdfast.run` one for all; elsewhere each acquisition is an owner of its own.
 * A lock object holds nothing by itself and costs nothing; make one wherever it is needed.
 */
export class HoldfastLock {
  /** @internal */
  readonly access: LockAccess
  readonly #registry: LocalLocks

  /** @internal */
  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kind: LockKind,
  ) {
    this.#registry = locks
    this.access = new LockAccess(name, rawName, owner, locks, kind)
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
   * @returns the lease; null when somebody else has the lock, or when `waitMs` is less than an answer
   * usually takes and was over before it. Never null for an outage: rejects as {@link lock} does, by
   * `waitMs` where that is given, also when Redis is down.
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
   * Runs `fn` while holding the lock, in a frame that carries this lock and no other: whatever runs
   * inside re-enters it, in any form, through any lock object of this client, until `fn` ends.
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
   * @returns what `fn` returns; null, without running `fn`, when {@link tryLock} gives null
   */
  async tryUsing<T>(
    fn: (lease: Lease) => Promise<T> | T,
    options: TryLockOptions = {},
  ): Promise<T | null> {
    return this.#use(fn, resolveAcquisition(options, TRY_LOCK_OPTIONS, 0))
  }

  /**
   * Undoes the latest acquisition of the frame: of `run`, or of `using` of this lock. Elsewhere, the
   * earliest that this object made there.
   *
   * Where one was lost while the call of the one that is held had begun, they are two tasks': then it
   * rejects with that loss, and releases nothing. Where one was lost before, nobody can tell whose call
   * it is: the one that is held is released, and its signal aborts, should another task rely on it.
   * Where nothing is held it rejects with the earliest loss that is remembered: each for as long again
   * as its `leaseMs`, the last one for an hour at least.
   *
   * @returns rejects with `NotHeldError` when there is none, `LeaseLostError` when the lease had
   * been lost before, and `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm
   * it: it is then tried on in the background, and the lock ends with its lease at the latest.
   */
  async unlock(): Promise<void> {
    this.#registry.assertOpen(this.name)
    const lease = this.access.currentOwner.leaseToUndo()
    if (lease === undefined) throw notHeld(this.access)
    const doubtful = this.access.currentOwner.forgetLostBeside(lease)
    const released = lease.release()
    if (doubtful) lease.hold.endedBy(endedByUnlock(lease))
    if (await released) return
    const stillHeld = this.access.currentOwner.heldLease()
    throw stillHeld === undefined ? lease.hold.over() : lostBefore(lease.hold.over(), stillHeld)
  }

  /** Whether anybody holds the lock, as Redis has it. Rejects when Redis does not answer. */
  async isLocked(): Promise<boolean> {
    return (await this.access.peek()).holder !== null
  }

  /** Whether the current owner holds the lock, as Redis has it. */
  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  /** How many acquisitions of the current owner are not released, as Redis has it; 0 for none. */
  async holdCount(): Promise<number> {
    const lease = this.access.currentOwner.heldLease()
    const { holder, holdCount } = await this.access.peek()
    return lease !== undefined && holder === lease.owner ? holdCount : 0
  }

  /**
   * What is left of the holder's lease as Redis has it, in milliseconds; 0 when the lock is free,
   * Infinity when it was made without an expiry, which Holdfast never does.
   */
  async remainingMs(): Promise<number> {
    const { holder, ttlMs } = await this.access.peek()
    return holder === null ? 0 : (ttlMs ?? Infinity)
  }

  /**
   * Takes the lock away from the one who holds it when this is called, and from nobody who comes
   * next, however often the request has to be sent. A holder in this client is told at once; one
   * elsewhere finds out at its next renewal, or look at a fixed lease, and may go on until then.
   *
   * @returns whether anybody held it: true also where that one let go of it meanwhile. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis, or a majority of the masters, did not
   * confirm that this holder has it no more
   */
  async forceUnlock(): Promise<boolean> {
    const { rawName } = this.access
    const remote = this.#registry.server.lock(rawName)
    const ask = <T>(call: (callMs: number) => Promise<T>) =>
      this.#registry.ask(this.name, 'not confirmed to be unlocked by force', call)
    const seen = await ask((callMs) => remote.seen(callMs))
    if (seen === null) return false
    await ask((callMs) => remote.forceRelease(seen, callMs))
    this.#registry.find(rawName)?.forced(seen)
    return true
  }

  /**
   * Who holds the lock, how often, under which token, for how long, and how many clients wait; of
   * those who wait in turn, the first 1,000.
   */
  inspect(): Promise<LockInfo> {
    const remote = this.#registry.server.lock(this.access.rawName)
    return this.#registry.ask(this.name, 'not inspected', (callMs) => remote.inspect(callMs))
  }

  async #use<T>(fn: (lease: Lease) => Promise<T> | T, meant: Acquisition): Promise<T | null> {
    assertFunction(fn)
    this.access.assertPossible(meant)
    const { currentOwner, rawName: lock } = this.access
    const owner = currentOwner.enclosing() ?? this.#registry.newOwner()
    const lease = await this.#acquire(owner, meant, { scoped: true })
    if (lease === null) return null
    const carried = [{ place: this.#registry, lock, owner }]
    return runWhileHeld(
      lease,
      carried,
      () => fn(lease),
      () => lease.hold.over(),
      this.#registry.emit,
    )
  }

  #bare(meant: Acquisition): Promise<Lease | null> {
    this.access.assertPossible(meant)
    const { currentOwner } = this.access
    const owner = currentOwner.ofBareCall()
    if (owner !== undefined) return this.#acquire(owner, meant, { scoped: false })
    const how = { holder: currentOwner.leaseHolder(), scoped: false, askedAt: performance.now() }
    const selfWait = ownSelfWait(this, [this.access])
    return this.#acquire(alone(this.access), meant, how, selfWait)
  }

  #acquire(
    owner: Owner,
    meant: Acquisition,
    how: Parameters<LockAccess['acquire']>[2],
    selfWait = selfWaitInFrame([this.access]),
  ): Promise<Lease | null> {
    const acquiring = this.access.acquire(owner, meant, how)
    return selfWait === undefined ? acquiring : warnOfSelfWait(selfWait, acquiring)
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
