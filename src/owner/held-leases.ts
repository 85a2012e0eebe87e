import { type Clock, systemClock, type Timer } from '../kit/clock.ts'
import type { Holder, Kept, LeaseList } from './holder.ts'

/** The last one that was lost is remembered for so long, in milliseconds: an hour. */
const LAST_KEPT_MS = 3_600_000

/** So many lost ones are remembered at most, whatever the times. */
const MOST_LOST = 100

/** Lists are looked through no more often than this, in milliseconds. */
const LEAST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Which leases an `unlock()` could mean: those of an owner, or those that a lock object acquired
 * outside any frame. Each on its lock, in the order of their acquisition.
 *
 * One that was lost stays until an `unlock()` has told of it, but not for good: for as long again as
 * it lasted; for as long as one is held whose call began before, and which is surely another task's;
 * and the last of them for an hour.
 */
export class HeldLeases<L extends Kept> {
  /** Where something was lost: holders that nobody knows any more go with all that they keep. */
  #lookedAfter: WeakRef<LeaseList>[] = []
  #timer: Timer | undefined
  #closed = false
  readonly #clock: Clock

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /** @returns where it is until it is released or forgotten */
  add(holder: Holder, rawName: string, lease: L): LeaseList {
    const list = holder.listFor(this, rawName)
    list.add(lease)
    if (list.size > 1 && list.first?.lostAt !== undefined) forget(list, this.#clock)
    return list
  }

  /** Something of it was lost, or may be: it will be forgotten in time, used or not. */
  lookAfter(list: LeaseList): void {
    if (list.isLookedAfter || list.size === 0) return
    list.isLookedAfter = true
    this.#lookedAfter.push(new WeakRef(list))
    this.#arm(LEAST_PAUSE_MS)
  }

  /** The one that is held, if any. */
  live(holder: Holder, rawName: string): L | undefined {
    return findLast<L>(holder.leasesOf(this, rawName), ({ live }) => live)
  }

  /**
   * Nested code undoes its latest acquisition first. Where that was asked for while another was
   * held that is lost now, it is no nested code: then as in {@link earliest}.
   */
  latest(holder: Holder, rawName: string, accepts: (lease: L) => boolean): L | undefined {
    const leases = holder.leasesOf(this, rawName)
    const last = findLast<L>(leases, accepts)
    if (last === undefined || last.askedAt === Infinity) return last
    return find<L>(leases, ({ lostAt }) => lostAt !== undefined && lostAt > last.askedAt) ?? last
  }

  /**
   * Tasks that share a lock object cannot be told apart. Where one that is held was asked for while
   * another was held that is lost now, they are two tasks: the one who comes late gets its own loss
   * and not the other's lock. Else the one that is held comes first.
   */
  earliest(holder: Holder, rawName: string): L | undefined {
    const leases = holder.leasesOf(this, rawName)
    if (leases !== undefined) forget(leases, this.#clock)
    const held = find<L>(leases, ({ live }) => live)
    if (held === undefined) return leases?.first as L | undefined
    return find<L>(leases, ({ lostAt }) => lostAt !== undefined && lostAt > held.askedAt) ?? held
  }

  /** Forgets what was lost there. Returns whether there was any, whose holder may yet come. */
  forgetLost(holder: Holder, rawName: string): boolean {
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

  close(): void {
    this.#closed = true
    this.#lookedAfter = []
    this.#clock.clear(this.#timer)
  }

  #arm(inMs: number): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = this.#clock.after(inMs, () => this.#sweep()).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    let next = Infinity
    this.#lookedAfter = this.#lookedAfter.filter((known) => {
      const list = known.deref()
      if (list === undefined) return false
      next = Math.min(next, forget(list, this.#clock))
      if (list.size > 0) return true
      list.isLookedAfter = false
      list.holder.dropEmpty(list)
      return false
    })
    if (next !== Infinity) this.#arm(Math.max(next - this.#clock.monotonic(), LEAST_PAUSE_MS))
  }
}

/** @returns when to look again, on the monotonic clock; Infinity when nothing is left */
function forget(leases: LeaseList, clock: Clock): number {
  const last = findLast(leases, ({ lostAt }) => lostAt !== undefined)
  let excess = leases.size - MOST_LOST
  // Who of those that hold it asked first.
  let askedAt = Infinity
  for (let lease = leases.first; lease !== undefined; lease = lease.after) {
    if (!lease.live) continue
    excess -= 1
    askedAt = Math.min(askedAt, lease.askedAt)
  }
  const now = clock.monotonic()
  let next = now + LONGEST_PAUSE_MS
  for (let lease = leases.first, after = lease; lease !== undefined; lease = after) {
    after = lease.after
    const { lostAt, leaseMs } = lease
    if (lostAt === undefined) continue
    const keptMs = lease.of === last?.of ? Math.max(leaseMs, LAST_KEPT_MS) : leaseMs
    const isOthers = askedAt < lostAt
    excess -= 1
    if (excess >= 0 || (lostAt + keptMs <= now && !isOthers)) leases.remove(lease)
    else if (lostAt + keptMs > now) next = Math.min(next, lostAt + keptMs)
  }
  return leases.size === 0 ? Infinity : next
}

function find<L extends Kept>(
  leases: LeaseList | undefined,
  accepts: (lease: L) => boolean,
): L | undefined {
  let lease = leases?.first
  while (lease !== undefined && !accepts(lease as L)) lease = lease.after
  return lease as L | undefined
}

function findLast<L extends Kept>(
  leases: LeaseList | undefined,
  accepts: (lease: L) => boolean,
): L | undefined {
  let lease = leases?.last
  while (lease !== undefined && !accepts(lease as L)) lease = lease.before
  return lease as L | undefined
}
