import { NotHeldError } from '../../errors.ts'
import { behind, handleClassOf } from '../../kit/handle.ts'
import { HeldLease, type Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { RequestReleaseOptions, WhenFreeOptions } from '../../options/options.ts'
import { CurrentOwner } from '../../owner/current-owner.ts'
import type { Carried } from '../../owner/frames.ts'
import type { HeldLeases } from '../../owner/held-leases.ts'
import type { LeaseHolder } from '../../owner/lease-holder.ts'
import type { WhyNotAcquired } from '../../why-not-acquired.ts'
import { BaseLock } from '../lock/base-lock.ts'
import type { HoldfastLock, Lock, LockInfo } from '../lock/holdfast-lock.ts'
import { BASE_MEMBERS, LOCK_NAMING } from '../lock/lock-members.ts'
import { alone, selfWaitOf, warningOf } from '../lock/self-wait-warning.ts'
import { endedBefore } from '../lock/unlock-errors.ts'
import { AllOrNone } from './all-or-none.ts'
import type { WantedLock } from './joint-request.ts'
import { HeldMultiLease, type MultiLease } from './multi-lease.ts'
import { locksOf } from './multi-lock-arguments.ts'
import { whenAllFree } from './when-all-free.ts'

const MEMBERS = [
  ...BASE_MEMBERS,
  'why',
  'isHeld',
  'isLocked',
  'inspect',
  'whenFree',
  'requestRelease',
] as const

/**
 * Several locks as one: a caller acquires all of them or none. The locks may differ in kind, client and server.
 *
 * Locks of one client and slot are usually acquired in one step. While the call waits for one lock, it holds the other
 * locks only briefly. If this time was too short, the next time is longer. The time grows only while all held locks
 * come before the missing lock, in an order that all clients share.
 *
 * So two callers that want the same locks never deadlock, in any order of arguments, and every caller acquires them
 * eventually. A caller that wants many busy locks may wait for longer than a caller that wants one.
 */
export interface MultiLock extends Pick<HoldfastMultiLock, (typeof MEMBERS)[number]> {}

/** The object behind a {@link MultiLock}. */
export class HoldfastMultiLock extends BaseLock<MultiLease, HeldMultiLease> {
  /** @internal */
  declare readonly registry: LocalLocks
  readonly #locks: readonly HoldfastLock[]
  readonly #key: string
  #handle: MultiLock | undefined

  /** @internal */
  constructor(given: readonly unknown[]) {
    const locks = locksOf(given, (lock) => behind(lock, HoldfastMultiLock)?.locks)
    const [{ registry }] = locks as [HoldfastLock]
    const key = JSON.stringify(locks.map((lock) => [lock.registry.clientId, lock.rawName]).sort())
    const leases = registry.multiLeases as HeldLeases<HeldMultiLease>
    super(
      locks.map(({ name }) => name).join(' + '),
      registry,
      new CurrentOwner(key, undefined, registry, leases),
    )
    this.#locks = locks
    this.#key = key
  }

  /** Explains the last failed attempt at one of the locks, as {@link Lock.why} of this lock does. */
  why(): Promise<WhyNotAcquired> {
    return this.#lastMissed.why()
  }

  /** @internal */
  withReason(): WhyNotAcquired | undefined {
    return this.#lastMissed.withReason()
  }

  get #lastMissed(): HoldfastLock {
    const at = (lock: HoldfastLock) => lock.lastWhy?.at ?? 0
    return this.#locks.reduce((last, lock) => (at(lock) > at(last) ? lock : last))
  }

  /** True if the current owner holds all of the locks, according to Redis. */
  async isHeld(): Promise<boolean> {
    const lease = this.currentOwner.heldLease()
    if (lease !== undefined) return lease.isHeld()
    const each = await Promise.all(this.#locks.map((lock) => lock.isHeld()))
    return each.every(Boolean)
  }

  /** True if an owner holds any of the locks, according to Redis. */
  async isLocked(): Promise<boolean> {
    const each = await Promise.all(this.#locks.map((lock) => lock.isLocked()))
    return each.some(Boolean)
  }

  /**
   * Waits until all locks are free, and acquires none of them. Another owner may already hold a lock when the promise
   * resolves. Rejects as {@link Lock.whenFree} does.
   *
   * @returns true if all locks are free; false at the end of `waitMs`
   */
  whenFree(options?: WhenFreeOptions): Promise<boolean> {
    return whenAllFree(this.#locks, options, this.registry.clock)
  }

  /**
   * Asks the holders of all locks to release the locks. Rejects as {@link Lock.requestRelease} does.
   *
   * @returns how many holders confirmed the request
   */
  async requestRelease(options?: Pick<RequestReleaseOptions, 'reason'>): Promise<number> {
    const each = await Promise.all(this.#locks.map((lock) => lock.requestRelease(options)))
    return each.reduce((sum, count) => sum + count, 0)
  }

  /** Returns the state of each lock according to Redis, in the order in which you passed the locks. */
  inspect(): Promise<LockInfo[]> {
    return Promise.all(this.#locks.map((lock) => lock.inspect()))
  }

  /** @internal */
  get handle(): MultiLock {
    this.#handle ??= new MultiLockHandle(this)
    return this.#handle
  }

  /** @internal */
  get locks(): readonly HoldfastLock[] {
    return this.#locks
  }

  /** @internal */
  protected async acquireBare(meant: Acquisition): Promise<MultiLease | null> {
    const wanted = this.#locks.map((lock) => {
      return { lock, owner: lock.currentOwner.ofBareCall() ?? alone(lock) }
    })
    return this.#gather(wanted, meant, this.currentOwner.leaseHolder(), false)
  }

  /** @internal */
  protected toCarry(): Carried[] {
    const owners = new Map(this.#locks.map(({ registry }) => [registry, registry.newOwner()]))
    const newOwner = (registry: typeof this.registry) =>
      owners.get(registry) as NonNullable<ReturnType<typeof owners.get>>
    const carried = this.#locks.map(({ registry, rawName, currentOwner }) => {
      return {
        registry,
        lock: rawName,
        owner: currentOwner.enclosing() ?? newOwner(registry),
      }
    })
    const { registry } = this
    return [...carried, { registry, lock: this.#key, owner: newOwner(registry) }]
  }

  /** @internal */
  protected acquireIn(carried: readonly Carried[], meant: Acquisition): Promise<MultiLease | null> {
    const wanted = this.#locks.map((lock, n) => {
      return { lock, owner: (carried[n] as Carried).owner }
    })
    const { owner } = carried.at(-1) as Carried
    return this.#gather(wanted, meant, owner, true)
  }

  /** @internal */
  protected notHeld(): Error {
    return new NotHeldError(
      `The locks "${this.name}" were not unlocked: the caller does not hold them together. ` +
        `A lease of using() ends with using(); any other lease has its own release().${endedBefore(this.currentOwner)}`,
      this.name,
    )
  }

  /** @internal */
  protected notUnlocked(lease: HeldMultiLease): unknown {
    return lease.whyEnded()
  }

  async #gather(
    all: readonly WantedLock[],
    meant: Acquisition,
    leaseHolder: LeaseHolder,
    scoped: boolean,
  ): Promise<MultiLease | null> {
    leaseHolder.began()
    let lease: HeldMultiLease | null = null
    try {
      lease = await this.#acquireAll(all, meant, leaseHolder, scoped)
    } finally {
      leaseHolder.callEnded(lease !== null)
    }
    return lease?.handle ?? null
  }

  async #acquireAll(
    all: readonly WantedLock[],
    meant: Acquisition,
    leaseHolder: LeaseHolder,
    scoped: boolean,
  ): Promise<HeldMultiLease | null> {
    const { clock } = this.registry
    const calledAt = clock.monotonic()
    const endsAt = calledAt + meant.waitMs
    for (const { lock } of all) lock.assertPossible(meant)
    for (const { lock, owner } of all) owner.beginGathering(lock.rawName)
    const selfWait = first(all, ({ lock, owner }) =>
      selfWaitOf(lock, owner.madeBy === undefined ? undefined : this),
    )
    const calledFrom = this.registry.heldWatch?.trace()
    let taken: ReadonlyMap<WantedLock, Lease> | null
    try {
      const request = new AllOrNone(all, meant, endsAt, clock, calledFrom)
      taken = await warningOf(selfWait, request.run())
    } finally {
      for (const { lock, owner } of all) owner.endGathering(lock.rawName)
    }
    if (taken === null) return null
    for (const [{ lock }, one] of taken) {
      const { hold } = behind(one, HeldLease) as HeldLease
      lock.registry.limit(hold, meant.maxHoldMs)
    }
    const each = all.flatMap((one) => {
      const lease = taken.get(one)
      return lease === undefined ? [] : [{ lock: one.lock, lease }]
    })
    const lease = new HeldMultiLease(this.name, each, scoped, calledAt)
    const kept = this.registry.multiLeases.add(leaseHolder, this.#key, lease)
    if (!scoped) kept.sweepLater()
    return lease
  }
}

const MultiLockHandle = handleClassOf(HoldfastMultiLock, MEMBERS, LOCK_NAMING)

function first<A, B>(all: readonly A[], of: (one: A) => B | undefined): B | undefined {
  for (const one of all) {
    const found = of(one)
    if (found !== undefined) return found
  }
  return undefined
}
