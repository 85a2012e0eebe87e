import { handleClassOf } from '../../kit/handle.ts'
import type { HeldLease, Lease } from '../../lease/lease.ts'
import { acquire } from '../../local/acquire.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import { CurrentOwner } from '../../owner/current-owner.ts'
import type { Carried } from '../../owner/frames.ts'
import type { LeaseHolder } from '../../owner/lease-holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, LockFacts } from '../../servers/facts.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import type { WhyNotAcquired } from '../../why-not-acquired.ts'
import { ContendedLock } from './contended-lock.ts'
import { forceUnlock } from './force-unlock.ts'
import { LOCK_MEMBERS, LOCK_NAMING } from './lock-members.ts'
import { type InnerOptions, nextNumber, requestOf } from './one-lock.ts'
import { alone, selfWaitOf, warningOf } from './self-wait-warning.ts'
import { lostBefore, notHeld } from './unlock-errors.ts'
import { findReason, whyNot, withText } from './why.ts'
import type { WhyFacts } from './why-text.ts'

/** The result of `inspect()` of a lock. */
export type LockInfo = LockFacts

const BARE: InnerOptions = { scoped: false }
const SCOPED: InnerOptions = { scoped: true }

/**
 * A named lock: exclusive among all clients of one Redis, and re-entrant for its owner.
 *
 * Code re-enters a lock if it runs in a frame that holds the lock. `using` opens a frame for its lock, and
 * `holdfast.run` opens a frame for all locks. Without a frame, each acquisition has its own owner. A lock object has no
 * state in Redis, so you can create a lock object wherever you need the lock.
 *
 * A method that sends a request rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis, or a majority of
 * the masters, was down for `outageMs`. It rejects with `ClosedError` after `close()`.
 */
export interface Lock extends Pick<HoldfastLock, (typeof LOCK_MEMBERS)[number]> {}

/** The object behind a {@link Lock}. Users get only the handle of this object. */
export class HoldfastLock extends ContendedLock {
  /** @internal */
  readonly rawName: string
  /** @internal */
  readonly kind: LockKind
  /** @internal */
  readonly number: number
  /** @internal */
  keepMs = 0
  /** @internal */
  lastWhy: WhyFacts | undefined

  /** @internal */
  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kind: LockKind,
    number = nextNumber(),
  ) {
    super(name, locks, new CurrentOwner(rawName, owner, locks, locks.leasesOf(kind)))
    this.rawName = rawName
    this.kind = kind
    this.number = number
  }

  /**
   * The client warns about a self-wait at most once for this object. All sides of a read-write lock have one object.
   *
   * @internal
   */
  get whole(): object {
    return this
  }

  override toJSON(): Record<string, unknown> {
    return { name: this.name, key: this.rawName }
  }

  /** True if an owner holds the lock, according to Redis. Rejects if Redis does not answer. */
  async isLocked(): Promise<boolean> {
    return (await this.peek()).holder !== null
  }

  /** True if the current owner holds the lock, according to Redis. Rejects if Redis does not answer. */
  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  /** Returns how many acquisitions of the current owner are not released, according to Redis; 0 if it holds nothing. */
  holdCount(): Promise<number> {
    return this.holdCountOf(this.currentOwner.heldLease()?.owner)
  }

  /** @internal */
  async holdCountOf(owner: string | undefined): Promise<number> {
    const { holder, holdCount } = await this.peek()
    return holder !== null && holder === owner ? holdCount : 0
  }

  /**
   * Returns the remaining time of the holder's lease according to Redis, in milliseconds. 0 if the lock is free.
   * Infinity if the key of the lock does not expire; Holdfast always sets an expiry.
   */
  async remainingMs(): Promise<number> {
    const { holder, ttlMs } = await this.peek()
    return holder === null ? 0 : (ttlMs ?? Infinity)
  }

  /**
   * Ends the present hold. A later hold stays, even if the client repeats the request. A holder in this client is
   * notified at once. A holder in another client notices the end at its next renewal. With a fixed lease, the holder
   * notices the end at its next check, or when the lease ends. Until then the holder continues.
   *
   * @returns true if the lock was held, even if the holder released the lock during the call. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` if Redis, or a majority of the masters, did not confirm that the
   * hold has ended
   */
  forceUnlock(): Promise<boolean> {
    return forceUnlock(this)
  }

  /**
   * Returns the holder, its hold count, the last token, the remaining lease, the age of the hold, and how many clients
   * wait at least. For a fair lock, the result also lists the first 1,000 waiters of the queue.
   */
  inspect(): Promise<LockInfo> {
    const remote = this.registry.server.lock(this.rawName)
    return this.registry.request(this.name, 'not inspected', (callMs) => remote.inspect(callMs))
  }

  /**
   * Returns the holder, its hold count and the remaining lease, according to Redis.
   *
   * @param failed words for the error of an outage, such as `not inspected`
   * @internal
   */
  peek(failed = 'not inspected'): Promise<HolderFacts> {
    const remote = this.registry.server.lock(this.rawName)
    return this.registry.request(this.name, failed, (callMs) => remote.peek(callMs))
  }

  /**
   * Explains why the last attempt of this object failed: the holder, the age of the hold, and the place in the queue.
   * These facts usually come from the answer to this attempt. If no attempt has failed, or the holder is unknown,
   * the call asks Redis for the holder, and may reject as {@link inspect} does. After an outage or
   * another failure, the text is the message of the error. All tasks that use this object share its last attempt.
   */
  why(): Promise<WhyNotAcquired> {
    return findReason(this, this.lastWhy)
  }

  /**
   * Looks up the process of the holder, so that a `WaitTimeoutError` can name the process. Also asks the client of the
   * holder to free the lock if that client keeps the lock without use.
   *
   * @internal
   */
  waitsFor(holder: string): void {
    void this.registry.clients.learn(holder)
    this.registry.revocations.wants(this.rawName, holder)
  }

  /** @internal */
  gotNothing(waiter: Waiter, reason?: unknown): void {
    this.lastWhy = whyNot(this, waiter, reason) ?? this.lastWhy
  }

  /** @internal */
  assertPossible({ leaseMs, signal }: Acquisition): void {
    this.registry.assertOpen(this.name)
    this.registry.assertNotLonger(this.name, leaseMs)
    signal?.throwIfAborted()
  }

  /**
   * Acquires the lock for an owner. Resolves with null if the lock was not acquired in time.
   *
   * @param leaseHolder stores the lease for `unlock()`
   * @param calledAt when the call began, in ms on the monotonic clock; Infinity if other calls may use this owner
   * @throws `ClosedError`, or the reason of an abort
   * @internal
   */
  acquire(
    owner: Owner,
    meant: Acquisition,
    how: InnerOptions,
    leaseHolder: LeaseHolder = owner,
    calledAt = Infinity,
  ): Promise<Lease | null> {
    const { registry } = this
    registry.assertAdmits(this.name, this.rawName, owner)
    meant.signal?.throwIfAborted()
    const request = requestOf(this, owner, meant, how, leaseHolder, calledAt)
    return acquire(registry.lock(this.name, this.rawName), this.kind, request)
  }

  /** @internal */
  protected acquireBare(meant: Acquisition): Promise<Lease | null> {
    this.assertPossible(meant)
    const { currentOwner } = this
    const owner = currentOwner.ofBareCall()
    if (owner !== undefined) return this.#acquireInFrame(owner, meant, BARE)
    const calledAt = this.registry.clock.monotonic()
    const leaseHolder = currentOwner.leaseHolder()
    const selfWait = selfWaitOf(this, this.whole)
    return warningOf(selfWait, this.acquire(alone(this), meant, BARE, leaseHolder, calledAt))
  }

  /** @internal */
  protected toCarry(): Carried[] {
    const owner = this.currentOwner.enclosing() ?? this.registry.newOwner()
    return [{ registry: this.registry, lock: this.rawName, owner }]
  }

  /** @internal */
  protected acquireIn([carried]: readonly [Carried], meant: Acquisition): Promise<Lease | null> {
    this.assertPossible(meant)
    return this.#acquireInFrame(carried.owner, meant, SCOPED)
  }

  /** @internal */
  withReason(): WhyNotAcquired | undefined {
    return this.lastWhy && withText(this, this.lastWhy)
  }

  /** @internal */
  protected notHeld(): Error {
    return notHeld(this.name, this.currentOwner)
  }

  /** @internal */
  protected notUnlocked(lease: HeldLease, failure: unknown): unknown {
    if (failure !== undefined) return failure
    const stillHeld = this.currentOwner.heldLease()
    return stillHeld === undefined ? lease.whyEnded() : lostBefore(lease.whyEnded(), stillHeld)
  }

  #acquireInFrame(owner: Owner, meant: Acquisition, how: InnerOptions): Promise<Lease | null> {
    return warningOf(selfWaitOf(this), this.acquire(owner, meant, how))
  }
}

const LockHandle = handleClassOf(HoldfastLock, LOCK_MEMBERS, LOCK_NAMING)

export function handleOf(lock: HoldfastLock): Lock {
  return new LockHandle(lock)
}
