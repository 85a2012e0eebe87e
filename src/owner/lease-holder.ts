import { type Linked, LinkedList } from '../kit/linked-list.ts'

/** A lease of one lock or of several locks, as `unlock()` finds it. */
export interface StoredLease extends Linked<StoredLease> {
  /** True if `unlock()` must not release the lease, because other code of Holdfast releases it. */
  readonly scoped: boolean
  /** True if the lease is not released, and at least one of its locks is not lost. */
  readonly live: boolean
  /** When the last of its locks was lost, on the monotonic clock; undefined while the lease is live. */
  readonly lostAt: number | undefined
  /**
   * When the call for the lease began, on the monotonic clock. Infinity if other calls may have the
   * same owner.
   */
  readonly calledAt: number
  readonly leaseMs: number
  readonly token: number
  /**
   * Identifies the hold of the lease. All acquisitions of one hold have the same object, because
   * they are lost together.
   */
  readonly holdIdentity: object
}

/**
 * Removes lost leases from its lists. A client has separate keepers for exclusive locks, for shared
 * locks and for multi-locks.
 */
interface Keeper {
  sweepLater(list: LeaseList): void
}

/** The leases that one holder has on one lock, in the order of their acquisition. */
export class LeaseList extends LinkedList<StoredLease> {
  readonly holder: LeaseHolder
  readonly keeper: Keeper
  readonly lock: string
  /** True from `sweepLater()` until a sweep finds the list empty. */
  isSwept = false

  constructor(holder: LeaseHolder, keeper: Keeper, lock: string) {
    super()
    this.holder = holder
    this.keeper = keeper
    this.lock = lock
  }

  override remove(lease: StoredLease): void {
    super.remove(lease)
    if (this.size === 0) this.holder.dropEmpty(this)
  }

  /**
   * Called when a lease in the list may be lost. A timer later removes the lost leases, even if no
   * call uses the list.
   */
  sweepLater(): void {
    this.keeper.sweepLater(this)
  }
}

/** Stores the leases of one owner or of one lock object, so that `unlock()` finds them. */
export abstract class LeaseHolder {
  // The lists are fields. A `WeakMap` of holders would cost the garbage collector more time than
  // all other steps of an acquisition. Most holders use only one lock, so they need only the first
  // field.
  #first: LeaseList | undefined
  #others: Map<Keeper, Map<string, LeaseList>> | undefined

  /**
   * Called when an acquisition begins. This object will store its lease.
   *
   * @internal
   */
  began(): void {}

  /**
   * Called once for each call of `began`, when the acquisition has ended.
   *
   * @internal
   */
  callEnded(_gotLease: boolean): void {}

  /** @internal */
  leasesOf(keeper: Keeper, lock: string): LeaseList | undefined {
    const first = this.#first
    if (first !== undefined && first.lock === lock && first.keeper === keeper) return first
    return this.#others?.get(keeper)?.get(lock)
  }

  /**
   * Returns the list for a new lease, and creates the list if necessary.
   *
   * @internal
   */
  listFor(keeper: Keeper, lock: string): LeaseList {
    const known = this.leasesOf(keeper, lock)
    if (known !== undefined) return known
    const list = new LeaseList(this, keeper, lock)
    const first = this.#first
    if (first === undefined || (first.size === 0 && !first.isSwept)) {
      this.#first = list
      return list
    }
    this.#others ??= new Map()
    const others = this.#others.get(keeper)
    if (others === undefined) this.#others.set(keeper, new Map([[lock, list]]))
    else others.set(lock, list)
    return list
  }

  /** @internal */
  dropEmpty(list: LeaseList): void {
    // A list that sweeps check stays here, even if the list is empty. Otherwise the next loss would
    // add another list for the same lock to the sweeps.
    if (list !== this.#first && !list.isSwept) {
      this.#others?.get(list.keeper)?.delete(list.lock)
    }
  }
}
