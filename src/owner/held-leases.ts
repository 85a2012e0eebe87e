import type { Holder } from './holder.ts'

/** What is kept: a lease of one lock, or of several. */
export interface Kept {
  /** Whether it is neither released nor lost. */
  readonly live: boolean
  /** When it was lost, on `performance.now()`; undefined while it was not. */
  readonly lostAt: number | undefined
  /**
   * When its call began, on `performance.now()`; Infinity for one that acts for an owner whose calls
   * follow each other.
   */
  readonly askedAt: number
  readonly leaseMs: number
  /** What is the same for all acquisitions of one hold, which are lost together. */
  readonly of: object
}

/** The last one that was lost is remembered for so long, in milliseconds: an hour. */
const LAST_KEPT_MS = 3_600_000

/** So many lost ones are remembered at most, whatever the times. */
const MOST_LOST = 100

/** Lists are looked through no more often than this, in milliseconds. */
const LEAST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** How many of them there are: each has a number. */
let made = 0

/**
 * Which leases an `unlock()` could mean: those of an owner, or those that a lock object acquired
 * outside any frame. Each on its lock, in the order of their acquisition.
 *
 * One that was lost stays until an `unlock()` has told of it, but not for good: for as long again as
 * it lasted; for as long as one is held whose call began before, and which is surely another task's;
 * and the last of them for an hour.
 */
export class HeldLeases<L extends Kept> {
  /** Sets its leases apart: a holder has others in other `Holdings`, maybe under the same name. */
  readonly #prefix: string
  /** Where something was lost: holders that nobody knows any more go with all that they keep. */
  #places: { readonly holder: WeakRef<Holder>; readonly key: string }[] = []
  /** Of each holder the keys that are among them: its lists come and go. */
  readonly #known = new WeakMap<Holder, Set<string>>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor() {
    made += 1
    this.#prefix = `${made}:`
  }

  add(holder: Holder, rawName: string, lease: L): void {
    const key = this.#prefix + rawName
    holder.keep(key, lease)
    const [first, second] = holder.kept(key) as readonly L[]
    if (second !== undefined && first?.lostAt !== undefined) this.#forget(holder, key)
  }

  remove(holder: Holder, rawName: string, lease: L): void {
    holder.drop(this.#prefix + rawName, lease)
  }

  /** Something of it was lost, or may be: it will be forgotten in time, used or not. */
  lookAfter(holder: Holder, rawName: string): void {
    const key = this.#prefix + rawName
    if (this.#known.get(holder)?.has(key) || !holder.kept(key)?.length) return
    const keys = this.#known.get(holder) ?? new Set()
    this.#known.set(holder, keys.add(key))
    this.#places.push({ holder: new WeakRef(holder), key })
    this.#arm(LEAST_PAUSE_MS)
  }

  /** The one that is held, if any. */
  live(holder: Holder, rawName: string): L | undefined {
    return this.#leases(holder, rawName)?.findLast((lease) => lease.live)
  }

  /**
   * Nested code undoes its latest acquisition first. Where that was asked for while another was
   * held that is lost now, it is no nested code: then as in {@link earliest}.
   */
  latest(holder: Holder, rawName: string, accepts: (lease: L) => boolean): L | undefined {
    const leases = this.#leases(holder, rawName)
    const last = leases?.findLast(accepts)
    if (last === undefined || last.askedAt === Infinity) return last
    return leases?.find(({ lostAt }) => lostAt !== undefined && lostAt > last.askedAt) ?? last
  }

  /**
   * Tasks that share a lock object cannot be told apart. Where one that is held was asked for while
   * another was held that is lost now, they are two tasks: the one who comes late gets its own loss
   * and not the other's lock. Else the one that is held comes first.
   */
  earliest(holder: Holder, rawName: string): L | undefined {
    this.#forget(holder, this.#prefix + rawName)
    const leases = this.#leases(holder, rawName)
    const held = leases?.find(({ live }) => live)
    if (held === undefined) return leases?.at(0)
    return leases?.find(({ lostAt }) => lostAt !== undefined && lostAt > held.askedAt) ?? held
  }

  /** Forgets what was lost there. Returns whether there was any, whose holder may yet come. */
  forgetLost(holder: Holder, rawName: string): boolean {
    const lost = this.#leases(holder, rawName)?.filter(({ lostAt }) => lostAt !== undefined) ?? []
    for (const lease of lost) holder.drop(this.#prefix + rawName, lease)
    return lost.length > 0
  }

  close(): void {
    this.#closed = true
    this.#places = []
    clearTimeout(this.#timer)
  }

  #leases(holder: Holder, rawName: string): readonly L[] | undefined {
    return holder.kept(this.#prefix + rawName) as readonly L[] | undefined
  }

  /** @returns when to look again, on `performance.now()`; undefined when nothing is left */
  #forget(holder: Holder, key: string): number | undefined {
    const leases = holder.kept(key) as readonly L[] | undefined
    if (leases === undefined || leases.length === 0) return undefined
    const last = leases.findLast(({ lostAt }) => lostAt !== undefined)
    const now = performance.now()
    const live = leases.filter((lease) => lease.live)
    let excess = leases.length - live.length - MOST_LOST
    let next = now + LONGEST_PAUSE_MS
    for (const lease of [...leases]) {
      const { lostAt, leaseMs } = lease
      if (lostAt === undefined) continue
      const keptMs = lease.of === last?.of ? Math.max(leaseMs, LAST_KEPT_MS) : leaseMs
      const isOthers = live.some(({ askedAt }) => askedAt < lostAt)
      excess -= 1
      if (excess >= 0 || (lostAt + keptMs <= now && !isOthers)) holder.drop(key, lease)
      else if (lostAt + keptMs > now) next = Math.min(next, lostAt + keptMs)
    }
    return next
  }

  #arm(inMs: number): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = setTimeout(() => this.#sweep(), inMs).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    let next = Infinity
    this.#places = this.#places.filter(({ holder, key }) => {
      const known = holder.deref()
      if (known === undefined) return false
      const at = this.#forget(known, key)
      if (at === undefined || !known.kept(key)?.length) {
        this.#known.get(known)?.delete(key)
        return false
      }
      next = Math.min(next, at)
      return true
    })
    if (next !== Infinity) this.#arm(Math.max(next - performance.now(), LEAST_PAUSE_MS))
  }
}
