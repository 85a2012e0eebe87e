import { type Clock, systemClock, type Timer } from '../kit/clock.ts'
import type { LeaseHolder, LeaseList, StoredLease } from './lease-holder.ts'

/**
 * A list remembers its last lost lease for at least this many milliseconds, unless an `unlock()`
 * reports the loss.
 */
const LAST_KEPT_MS = 3_600_000

/** The largest number of lost leases that one list remembers. */
const MOST_LOST = 100

/** The shortest pause between two sweeps of the lists, in milliseconds. */
const LEAST_PAUSE_MS = 1_000
/** The longest pause between two sweeps of the lists, in milliseconds. */
const LONGEST_PAUSE_MS = 60_000

/**
 * The leases that `unlock()` can find: the leases of an owner, or of a lock object outside all
 * frames. Each list contains the leases of one lock, in the order of acquisition.
 *
 * A lost lease stays in its list until an `unlock()` reports the loss. Without such an `unlock()`,
 * a sweep removes the lost lease when its `leaseMs` have passed since the loss. The last lost lease
 * stays for at least an hour.
 *
 * If the call for a held lease began before the loss of another lease, two tasks use the lock. Then
 * the lost lease stays while the other lease is held.
 */
export class HeldLeases<L extends StoredLease> {
  /**
   * The lists that sweeps check, because these lists may contain lost leases. The references are
   * weak, so that a holder without other references is garbage-collected with its leases.
   */
  #swept: WeakRef<LeaseList>[] = []
  #timer: Timer | undefined
  #closed = false
  readonly #clock: Clock

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /**
   * Stores the lease, so that `unlock()` finds it.
   *
   * @returns the list that contains the lease until the lease is released or forgotten
   */
  add(holder: LeaseHolder, rawName: string, lease: L): LeaseList {
    const list = holder.listFor(this, rawName)
    list.add(lease)
    if (list.size > 1 && list.first?.lostAt !== undefined) forget(list, this.#clock)
    return list
  }

  /**
   * Called when a lease in the list may be lost. A timer later removes the lost leases, even if no
   * call uses the list.
   */
  sweepLater(list: LeaseList): void {
    if (list.isSwept || list.size === 0) return
    list.isSwept = true
    this.#swept.push(new WeakRef(list))
    this.#arm(LEAST_PAUSE_MS)
  }

  /** Returns the latest lease that is held; undefined if no lease is held. */
  live(holder: LeaseHolder, rawName: string): L | undefined {
    return findLast<L>(holder.leasesOf(this, rawName), ({ live }) => live)
  }

  /**
   * Returns the lease that an `unlock()` in a frame or with an explicit owner releases. Nested code
   * releases its latest acquisition first, so the result is usually the latest accepted lease. If a
   * lease was lost after the call for the latest lease began, the calls are not nested. Then the
   * result is the lost lease, as in {@link earliest}.
   */
  latest(holder: LeaseHolder, rawName: string, accepts: (lease: L) => boolean): L | undefined {
    const leases = holder.leasesOf(this, rawName)
    const last = findLast<L>(leases, accepts)
    if (last === undefined || last.calledAt === Infinity) return last
    return find<L>(leases, ({ lostAt }) => lostAt !== undefined && lostAt > last.calledAt) ?? last
  }

  /**
   * Returns the lease that an `unlock()` outside all frames releases: the earliest held lease. If
   * no lease is held, returns the earliest lost lease.
   *
   * If another lease was lost after the call for the held lease began, two tasks use the lock
   * object. Then the result is the lost lease. So the task that lost its lease learns of the loss,
   * and does not release the lock of the other task.
   */
  earliest(holder: LeaseHolder, rawName: string): L | undefined {
    const leases = holder.leasesOf(this, rawName)
    if (leases !== undefined) forget(leases, this.#clock)
    const held = find<L>(leases, ({ live }) => live)
    if (held === undefined) return leases?.first as L | undefined
    return find<L>(leases, ({ lostAt }) => lostAt !== undefined && lostAt > held.calledAt) ?? held
  }

  /**
   * Removes the lost leases, and returns true if there were any. Their tasks may still call
   * `unlock()`.
   */
  forgetLost(holder: LeaseHolder, rawName: string): boolean {
    const leases = holder.leasesOf(this, rawName)
    let any = false
    for (let lease = leases?.first, next = lease; lease !== undefined; lease = next) {
      next = lease.after
      if (lease.lostAt === undefined) continue
      leases?.remove(lease)
      any = true
    }
    return any
  }

  stopTimer(): void {
    this.#closed = true
    this.#swept = []
    this.#clock.clear(this.#timer)
  }

  #arm(inMs: number): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = this.#clock.after(inMs, () => this.#sweep()).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    let next = Infinity
    this.#swept = this.#swept.filter((known) => {
      const list = known.deref()
      if (list === undefined) return false
      next = Math.min(next, forget(list, this.#clock))
      if (list.size > 0) return true
      list.isSwept = false
      list.holder.dropEmpty(list)
      return false
    })
    if (next !== Infinity) this.#arm(Math.max(next - this.#clock.monotonic(), LEAST_PAUSE_MS))
  }
}

/**
 * Removes the lost leases that the list need not remember any longer.
 *
 * @returns the earliest time of the next sweep, in milliseconds on the monotonic clock; Infinity if
 * the list is empty
 */
function forget(leases: LeaseList, clock: Clock): number {
  const last = findLast(leases, ({ lostAt }) => lostAt !== undefined)
  let excess = leases.size - MOST_LOST
  // When the earliest call for a held lease began, on the monotonic clock.
  let calledAt = Infinity
  for (let lease = leases.first; lease !== undefined; lease = lease.after) {
    if (!lease.live) continue
    excess -= 1
    calledAt = Math.min(calledAt, lease.calledAt)
  }
  const now = clock.monotonic()
  let next = now + LONGEST_PAUSE_MS
  for (let lease = leases.first, after = lease; lease !== undefined; lease = after) {
    after = lease.after
    const { lostAt, leaseMs } = lease
    if (lostAt === undefined) continue
    const keptMs =
      lease.holdIdentity === last?.holdIdentity ? Math.max(leaseMs, LAST_KEPT_MS) : leaseMs
    const isOthers = calledAt < lostAt
    excess -= 1
    if (excess >= 0 || (lostAt + keptMs <= now && !isOthers)) leases.remove(lease)
    else if (lostAt + keptMs > now) next = Math.min(next, lostAt + keptMs)
  }
  return leases.size === 0 ? Infinity : next
}

function find<L extends StoredLease>(
  leases: LeaseList | undefined,
  accepts: (lease: L) => boolean,
): L | undefined {
  let lease = leases?.first
  while (lease !== undefined && !accepts(lease as L)) lease = lease.after
  return lease as L | undefined
}

function findLast<L extends StoredLease>(
  leases: LeaseList | undefined,
  accepts: (lease: L) => boolean,
): L | undefined {
  let lease = leases?.last
  while (lease !== undefined && !accepts(lease as L)) lease = lease.before
  return lease as L | undefined
}
