import { type Linked, LinkedList } from '../kit/linked-list.ts'

/** What is kept: a lease of one lock, or of several. */
export interface Kept extends Linked<Kept> {
  /** Whether somebody else than `unlock()` releases it. */
  readonly scoped: boolean
  /** Whether it is neither released nor lost. */
  readonly live: boolean
  /** When it was lost, on the monotonic clock; undefined while it was not. */
  readonly lostAt: number | undefined
  /**
   * When its call began, on the monotonic clock; Infinity for one that acts for an owner whose calls
   * follow each other.
   */
  readonly askedAt: number
  readonly leaseMs: number
  readonly token: number
  /** What is the same for all acquisitions of one hold, which are lost together. */
  readonly of: object
}

/** Sets the leases of one place and kind apart, and forgets what was lost of them. */
interface Keeper {
  lookAfter(list: LeaseList): void
}

/** The leases of one holder on one lock, in the order of their acquisition. */
export class LeaseList extends LinkedList<Kept> {
  readonly holder: Holder
  readonly keeper: Keeper
  readonly lock: string
  /** Whether it is looked through now and then, also when it is empty. */
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

  /** Something of it was lost, or may be: it will be forgotten in time, used or not. */
  lookAfter(): void {
    this.keeper.lookAfter(this)
  }
}

/** Keeps the leases of one owner. */
export abstract class Holder {
  // Not in a `WeakMap` of holders: most of them come and go, and it costs the garbage collector more
  // than all else that a lock does. Most have leases of one lock only, and come back for the same.
  #first: LeaseList | undefined
  #others: Map<Keeper, Map<string, LeaseList>> | undefined

  /**
   * A call whose lease is to be kept here has begun.
   *
   * @internal
   */
  began(): void {}

  /**
   * Such a call has come to its end: with a lease, or with nothing.
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
   * The list that one more lease goes to.
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
    // Whoever looks after it finds it until then: it would else be looked after once more each time.
    if (list !== this.#first && !list.isLookedAfter) {
      this.#others?.get(list.keeper)?.delete(list.lock)
    }
  }
}
