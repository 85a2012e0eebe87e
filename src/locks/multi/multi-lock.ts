import { InvalidArgumentError, NotHeldError, show } from '../../errors.ts'
import { assertFunction } from '../../input.ts'
import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
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
import { CurrentOwner } from '../../owner/current-owner.ts'
import type { HeldLeases } from '../../owner/held-leases.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import { HoldfastLock, type LockInfo } from '../lock/holdfast-lock.ts'
import type { LockAccess } from '../lock/lock-access.ts'
import { runWhileHeld } from '../lock/run-while-held.ts'
import { alone, ownSelfWait, selfWaitInFrame, warnOfSelfWait } from '../lock/self-wait-warning.ts'
import { endedByUnlock } from '../lock/unlock-errors.ts'
import { AllOrNone } from './all-or-none.ts'
import type { Wanted } from './joint-request.ts'
import { MultiLease, oneOf } from './multi-lease.ts'

/**
 * Several locks as one: all of them or none. They may be of any kind, of any client and server.
 *
 * Locks of one server and slot are taken in one step. While one is waited for, the others are held
 * for a moment only; where that never does, those that come before it in an order which all clients
 * keep are held for longer each time. Two that want the same locks never wait for each other for
 * ever, in whatever order they were given them, and everybody gets them one day. Whoever wants many
 * busy locks may wait for longer than who wants one of them.
 */
export class MultiLock {
  /** The names of its locks, with ` + ` between them. */
  readonly name: string
  readonly #locks: readonly HoldfastLock[]
  readonly #accesses: readonly LockAccess[]
  readonly #registry: LocalLocks
  readonly #key: string
  readonly #currentOwner: CurrentOwner<MultiLease>

  /** @internal */
  constructor(locks: readonly unknown[]) {
    this.#locks = locksOf(locks)
    this.#accesses = this.#locks.map(({ access }) => access)
    const [first] = this.#accesses as [LockAccess]
    this.name = this.#locks.map(({ name }) => name).join(' + ')
    this.#registry = first.registry
    this.#key = JSON.stringify(
      this.#accesses.map(({ registry, rawName }) => [registry.clientId, rawName]).sort(),
    )
    this.#currentOwner = new CurrentOwner(this.#key, undefined, this.#registry, this.#multiLeases)
  }

  /**
   * Acquires all of the locks, and waits for them without an end.
   *
   * @param options a fixed lease in milliseconds, or options. Without a lease the watchdog renews
   * all of them until the release.
   * @returns rejects as `lock()` of each of the locks does; nothing is held then
   */
  lock(options?: LockOptions | number): Promise<MultiLease>
  async lock(options: LockOptions | number = {}, ...others: never[]): Promise<MultiLease> {
    return (await this.#bare(lockArguments(options, others))) as MultiLease
  }

  /**
   * Acquires all of the locks if that is possible in the time given, which is one for the whole:
   * `tryLock()` asks once, `tryLock(waitMs)` waits at most so long, `tryLock(waitMs, leaseMs)`
   * takes a fixed lease.
   *
   * @returns the lease of all; null, with nothing held, when somebody else has one of them. Rejects
   * as {@link lock} does.
   */
  tryLock(waitMs?: number, leaseMs?: number): Promise<MultiLease | null>
  tryLock(options: TryLockOptions): Promise<MultiLease | null>
  async tryLock(
    first?: number | TryLockOptions,
    leaseMs?: number,
    ...others: never[]
  ): Promise<MultiLease | null> {
    return this.#bare(tryLockArguments(first, leaseMs, others))
  }

  /**
   * Runs `fn` while holding all of the locks, in a frame that carries them and no others: whatever
   * runs inside re-enters, each lock by itself as well.
   *
   * @param options as for {@link lock}
   * @returns what `fn` returns. Rejects as `using()` of one lock does, and with `NotReleasedError`
   * when several locks were lost before `fn` ended.
   */
  async using<T>(fn: (lease: MultiLease) => Promise<T> | T, options: LockOptions = {}): Promise<T> {
    return (await this.#use(fn, resolveAcquisition(options, LOCK_OPTIONS, Infinity))) as T
  }

  /**
   * As {@link using}, if the locks are to be had in the time given: without `waitMs` they are tried
   * once.
   *
   * @returns what `fn` returns; null, without running `fn`, when somebody else has one of them
   */
  async tryUsing<T>(
    fn: (lease: MultiLease) => Promise<T> | T,
    options: TryLockOptions = {},
  ): Promise<T | null> {
    return this.#use(fn, resolveAcquisition(options, TRY_LOCK_OPTIONS, 0))
  }

  /**
   * Undoes the latest acquisition of these locks together by the frame; elsewhere, the earliest that
   * this object made, as `unlock()` of one lock does. It goes on past an error: each lock is released, whatever
   * becomes of the others.
   *
   * @returns rejects with `NotHeldError` when there is none, and as `unlock()` of one lock does when
   * one of them was lost or its release was not confirmed; with `NotReleasedError`, which has all
   * that happened, when it was several of them
   */
  async unlock(): Promise<void> {
    this.#registry.assertOpen(this.name)
    const lease = this.#currentOwner.leaseToUndo()
    if (lease === undefined) {
      throw new NotHeldError(
        `The locks "${this.name}" were not unlocked: the caller does not hold them together. What ` +
          'using() holds it releases itself; any other lease has a release() of its own.',
        this.name,
      )
    }
    const doubtful = this.#currentOwner.forgetLostBeside(lease)
    const released = lease.release()
    if (doubtful) for (const one of lease.leases) one.hold.endedBy(endedByUnlock(one))
    if (!(await released.catch(() => false))) throw oneOf(lease.errors, this.name)
  }

  /** Whether the current owner holds all of them, as Redis has it. */
  async isHeld(): Promise<boolean> {
    const lease = this.#currentOwner.heldLease()
    if (lease === undefined) {
      const each = await Promise.all(this.#locks.map((lock) => lock.isHeld()))
      return each.every(Boolean)
    }
    const facts = await this.inspect()
    const owners = new Set(lease.leases.map(({ owner }) => owner))
    return facts.every(({ holder }) => holder !== null && owners.has(holder))
  }

  /** Whether anybody holds any of them, as Redis has it: then they are not all to be had. */
  async isLocked(): Promise<boolean> {
    const each = await Promise.all(this.#locks.map((lock) => lock.isLocked()))
    return each.some(Boolean)
  }

  /** Each of the locks as Redis has it, in the order in which they were given. */
  inspect(): Promise<LockInfo[]> {
    return Promise.all(this.#locks.map((lock) => lock.inspect()))
  }

  get #multiLeases(): HeldLeases<MultiLease> {
    return this.#registry.multiLeases as HeldLeases<MultiLease>
  }

  /** @internal */
  get locks(): readonly HoldfastLock[] {
    return this.#locks
  }

  async #use<T>(fn: (lease: MultiLease) => Promise<T> | T, meant: Acquisition): Promise<T | null> {
    assertFunction(fn)
    const owners = new Map(this.#accesses.map(({ registry }) => [registry, registry.newOwner()]))
    const wanted = this.#accesses.map((access) => {
      const owner = access.currentOwner.enclosing() ?? owners.get(access.registry)
      return { access, owner: owner as NonNullable<typeof owner> }
    })
    const holder = owners.get(this.#registry) as Owner
    const lease = await this.#gather(wanted, meant, holder, true)
    if (lease === null) return null
    const carried = wanted.map(({ access, owner }) => {
      return { place: access.registry, lock: access.rawName, owner }
    })
    carried.push({ place: this.#registry, lock: this.#key, owner: holder })
    const lost = () => oneOf(lease.errors, this.name)
    return runWhileHeld(lease, carried, () => fn(lease), lost, this.#registry.emit)
  }

  async #bare(meant: Acquisition): Promise<MultiLease | null> {
    const wanted = this.#accesses.map((access) => {
      return { access, owner: access.currentOwner.ofBareCall() ?? alone(access) }
    })
    const ofItsOwn = wanted.flatMap(({ access, owner }) => (owner.madeBy ? [access] : []))
    const selfWait = ownSelfWait(this, ofItsOwn) ?? selfWaitInFrame(this.#accesses)
    const gathering = this.#gather(wanted, meant, this.#currentOwner.leaseHolder(), false)
    return selfWait === undefined ? gathering : warnOfSelfWait(selfWait, gathering)
  }

  async #gather(
    all: readonly Wanted[],
    meant: Acquisition,
    holder: Holder,
    scoped: boolean,
  ): Promise<MultiLease | null> {
    const askedAt = performance.now()
    const endsAt = askedAt + meant.waitMs
    for (const { access } of all) access.assertPossible(meant)
    for (const { access, owner } of all) owner.gathers(access.rawName)
    let taken: ReadonlyMap<Wanted, Lease> | null
    try {
      taken = await new AllOrNone(all, meant, endsAt).run()
    } finally {
      for (const { access, owner } of all) owner.gathered(access.rawName)
    }
    if (taken === null) return null
    const leases = all.flatMap((one) => taken.get(one) ?? [])
    const multiLeases = this.#multiLeases
    const lease: MultiLease = new MultiLease(this.name, leases, { scoped, askedAt }, () =>
      multiLeases.remove(holder, this.#key, lease),
    )
    multiLeases.add(holder, this.#key, lease)
    if (!scoped) multiLeases.lookAfter(holder, this.#key)
    return lease
  }
}

function locksOf(given: readonly unknown[]): HoldfastLock[] {
  if (given.length === 0) {
    throw new InvalidArgumentError('getMultiLock(...locks): give it the locks; got none.')
  }
  return given.flatMap((lock) => {
    if (lock instanceof HoldfastLock) return [lock]
    if (lock instanceof MultiLock) return [...lock.locks]
    throw new InvalidArgumentError(
      `getMultiLock(...locks) takes locks of Holdfast, each an argument of its own; got ${show(lock)}.`,
    )
  })
}
