import { type Linked, LinkedList } from '../kit/linked-list.ts'

/** A lease of one lock, or of several, that is kept for `unlock()`. */
export interface Kept extends Linked<Kept> {
  /** True if other code than `unlock()` releases it. */
  readonly scoped: boolean
  /** True if it is neither released nor lost. */
  readonly live: boolean
  /** When it was lost, on the monotonic clock; undefined if it is not lost. */
  readonly lostAt: number | undefined
  /**
   * When its call began, on the monotonic clock. It is Infinity if the calls of the owner follow
   * each other.
   */
  readonly askedAt: number
  readonly leaseMs: number
  readonly token: number
  /** The same object for all acquisitions of one hold, which are lost together. */
  readonly of: object
}

/** Separates leases by server and kind, and forgets lost leases. */
interface Keeper {
  lookAfter(list: LeaseList): void
}

/** The leases of one holder on one lock, in the order of their acquisition. */
export class LeaseList extends LinkedList<Kept> {
  readonly holder: Holder
  readonly keeper: Keeper
  readonly lock: string
  /** True if sweeps check the list, even when it is empty. */
  isLookedAfter = false

  constructor(holder: Holder, keeper: Keeper, lock: string) {
    super()
    this.holder = holder
    this.keeper = keeper
    this.lock = lock
  }

  override remove(lease: Kept): void {
    super.remove(lease)
    if (this.size === 0) this.holder.dropEmpty(this)
  }

  /**
   * Called if a lease in the list is lost, or may be lost. Sweeps then forget it, even if no call
   * uses the list.
   */
  lookAfter(): void {
    this.keeper.lookAfter(this)
  }
}

/** Keeps the leases of one owner or one lock object. */
export abstract class Holder {
  // Not in a `WeakMap` of holders. Most holders are short-lived, and a `WeakMap` costs the garbage
  // collector more than the rest of an acquisition. Most holders use one lock only, again and
  // again.
  #first: LeaseList | undefined
  #others: Map<Keeper, Map<string, LeaseList>> | undefined

  /**
   * Called when a call begins whose lease this holder would keep.
   *
   * @internal
   */
  began(): void {}

  /**
   * Called when such a call ends, with or without a lease.
   *
   * @internal
   */
  ended(_gotLease: boolean): void {}

  /** @internal */
  leasesOf(keeper: Keeper, lock: string): LeaseList | undefined {
    const first = this.#first
    if (first !== undefined && first.lock === lock && first.keeper === keeper) return first
    return this.#others?.get(keeper)?.get(lock)
  }

  /**
   * The list for a new lease.
   *
   * @internal
   */
  listFor(keeper: Keeper, lock: string): LeaseList {
    const known = this.leasesOf(keeper, lock)
    if (known !== undefined) return known
    const list = new LeaseList(this, keeper, lock)
    const first = this.#first
    if (first === undefined || (first.size === 0 && !first.isLookedAfter)) {
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
    // Sweeps drop their lists themselves. Dropped here, a list would be added to the sweeps again
    // each time.
    if (list !== this.#first && !list.isLookedAfter) {
      this.#others?.get(list.keeper)?.delete(list.lock)
    }
  }
}
