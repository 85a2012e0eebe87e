import type { WhyNotAcquired } from '../../errors.ts'
import { handleClassOf } from '../../kit/handle.ts'
import type { HeldLease, Lease } from '../../lease/lease.ts'
import { acquire } from '../../local/acquire.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import { CurrentOwner } from '../../owner/current-owner.ts'
import type { Carried } from '../../owner/frames.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, LockFacts } from '../../servers/answers.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import { ContendedLock } from './contended-lock.ts'
import { forceUnlock } from './force-unlock.ts'
import { LOCK_MEMBERS, LOCK_NAMING } from './lock-members.ts'
import { type Manner, nextNumber, requestOf } from './one-lock.ts'
import { alone, selfWaitOf, warningOf } from './self-wait-warning.ts'
import { lostBefore, notHeld } from './unlock-errors.ts'
import { askWhy, told, whyNot } from './why.ts'
import type { Facts } from './why-text.ts'

/** The result of `inspect()` of a lock. */
export type LockInfo = LockFacts

const BARE: Manner = { scoped: false }
const SCOPED: Manner = { scoped: true }

/**
 * A named lock: exclusive among all clients of one Redis, and re-entrant for its owner.
 *
 * Code re-enters a lock exactly when it runs inside code that holds the lock. `using` opens a frame for its lock,
 * `holdfast.run` opens a frame for all locks. Without a frame each acquisition has its own owner. A lock object holds
 * nothing itself and costs nothing. Create one wherever you need it.
 *
 * A method that asks Redis rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis, or a majority of the
 * masters, was down for `outageMs`. It rejects with `ClosedError` after `close()`.
 */
export interface Lock extends Pick<HoldfastLock, (typeof LOCK_MEMBERS)[number]> {}

/** The internal object of a lock. Users get its handle. */
export class HoldfastLock extends ContendedLock {
  /** @internal */
  readonly rawName: string
  /** @internal */
  readonly kind: LockKind
  /** @internal */
  readonly number: number
  /** @internal */
  lastWhy: Facts | undefined

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
   * A warning about a self-wait is given once for this object. It is this lock object, or the
   * object that all sides of a read-write lock share.
   *
   * @internal
   */
  get whole(): object {
    return this
  }

  override toJSON(): Record<string, unknown> {
    return { name: this.name, key: this.rawName }
  }

  /** True if the lock is held, according to Redis. Rejects if Redis does not answer. */
  async isLocked(): Promise<boolean> {
    return (await this.peek()).holder !== null
  }

  /** True if the current owner holds the lock, according to Redis. */
  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  /**
   * The hold count of the current owner, according to Redis: how many of its acquisitions are not released. 0 for
   * none.
   */
  holdCount(): Promise<number> {
    return this.holdCountOf(this.currentOwner.heldLease()?.owner)
  }

  /** @internal */
  async holdCountOf(owner: string | undefined): Promise<number> {
    const { holder, holdCount } = await this.peek()
    return holder !== null && holder === owner ? holdCount : 0
  }

  /**
   * The remaining time of the holder's lease according to Redis, in milliseconds. 0 if the lock is free. Infinity if
   * the lock has no expiry, which Holdfast never creates.
   */
  async remainingMs(): Promise<number> {
    const { holder, ttlMs } = await this.peek()
    return holder === null ? 0 : (ttlMs ?? Infinity)
  }

  /**
   * Takes the lock from its current holder, never from a later holder, even when the client has to send the request
   * again. A holder in this client is notified at once. A holder in another client learns of it at its next renewal.
   * With a fixed lease, it learns of it at its next check, at the latest when the lease ends. Until then it continues.
   *
   * @returns true if the lock was held, even if the holder released it meanwhile. Rejects with `RedisUnavailableError`
   * or `RedisRefusedError` if Redis, or a majority of the masters, did not confirm that this holder no longer holds it
   */
  forceUnlock(): Promise<boolean> {
    return forceUnlock(this)
  }

  /**
   * Returns the holder, its hold count, its token, the remaining lease, and the number of waiting clients. The queue
   * of a fair lock lists the first 1,000.
   */
  inspect(): Promise<LockInfo> {
    const remote = this.registry.server.lock(this.rawName)
    return this.registry.ask(this.name, 'not inspected', (callMs) => remote.inspect(callMs))
  }

  /**
   * Returns the holder according to Redis.
   *
   * @param failed the failed action in words, for the error of an outage
   * @internal
   */
  peek(failed = 'not inspected'): Promise<HolderFacts> {
    const remote = this.registry.server.lock(this.rawName)
    return this.registry.ask(this.name, failed, (callMs) => remote.peek(callMs))
  }

  /**
   * Explains why the last attempt of this object failed: the holder, since when, and the callers ahead in the queue.
   * The answer to that attempt contained these facts. If no attempt has failed, it asks Redis for the current holder,
   * and rejects as {@link inspect} does. All tasks that use this object share the last attempt.
   */
  why(): Promise<WhyNotAcquired> {
    return askWhy(this, this.lastWhy)
  }

  /**
   * Looks up the process of the holder, so that a timeout error can name the process.
   *
   * @internal
   */
  waitsFor(holder: string): void {
    void this.registry.clients.learn(holder)
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
   * Acquires the lock for an owner; null if that was not possible in the given time.
   *
   * @param holder stores the lease, so that `unlock()` finds it
   * @param askedAt when the call began, on the monotonic clock; Infinity if its owner may acquire
   *   again
   * @throws `ClosedError`, or the reason of an abort
   * @internal
   */
  acquire(
    owner: Owner,
    meant: Acquisition,
    manner: Manner,
    holder: Holder = owner,
    askedAt = Infinity,
  ): Promise<Lease | null> {
    const { registry } = this
    registry.assertAdmits(this.name, this.rawName, owner)
    meant.signal?.throwIfAborted()
    const request = requestOf(this, owner, meant, manner, holder, askedAt)
    return acquire(registry.lock(this.name, this.rawName), this.kind, request)
  }

  /** @internal */
  protected acquireBare(meant: Acquisition): Promise<Lease | null> {
    this.assertPossible(meant)
    const { currentOwner } = this
    const owner = currentOwner.ofBareCall()
    if (owner !== undefined) return this.#acquireInFrame(owner, meant, BARE)
    const askedAt = this.registry.clock.monotonic()
    const holder = currentOwner.leaseHolder()
    const selfWait = selfWaitOf(this, this.whole)
    return warningOf(selfWait, this.acquire(alone(this), meant, BARE, holder, askedAt))
  }

  /** @internal */
  protected toCarry(): Carried[] {
    const owner = this.currentOwner.enclosing() ?? this.registry.newOwner()
    return [{ place: this.registry, lock: this.rawName, owner }]
  }

  /** @internal */
  protected acquireIn([carried]: readonly [Carried], meant: Acquisition): Promise<Lease | null> {
    this.assertPossible(meant)
    return this.#acquireInFrame(carried.owner, meant, SCOPED)
  }

  /** @internal */
  toldWhy(): WhyNotAcquired | undefined {
    return this.lastWhy && told(this, this.lastWhy)
  }

  /** @internal */
  protected notHeld(): Error {
    return notHeld(this.name, this.currentOwner)
  }

  /** @internal */
  protected notUnlocked(lease: HeldLease, failure: unknown): unknown {
    if (failure !== undefined) return failure
    const stillHeld = this.currentOwner.heldLease()
    return stillHeld === undefined ? lease.over() : lostBefore(lease.over(), stillHeld)
  }

  #acquireInFrame(owner: Owner, meant: Acquisition, manner: Manner): Promise<Lease | null> {
    return warningOf(selfWaitOf(this), this.acquire(owner, meant, manner))
  }
}

const LockHandle = handleClassOf(HoldfastLock, LOCK_MEMBERS, LOCK_NAMING)

/** Returns the object that users get. */
export function handleOf(lock: HoldfastLock): Lock {
  return new LockHandle(lock)
}
