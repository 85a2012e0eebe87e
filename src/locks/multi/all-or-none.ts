import { LeaseLostError } from '../../errors.ts'
import type { Clock } from '../../kit/clock.ts'
import { within } from '../../kit/within.ts'
import type { Lease } from '../../lease/lease.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import { silentError } from '../../waiting/no-answer.ts'
import type { InnerOptions, OneLock } from '../lock/one-lock.ts'
import { inCanonicalOrder } from './canonical-order.ts'
import { HoldingTime } from './holding-time.ts'
import type { WantedLock } from './joint-request.ts'
import { groupsOf, JointRequest } from './joint-request.ts'

/** After this many lost leases in a row, the call rejects, because its leases are too short. */
const MOST_LOSSES = 5

/** When the call holds all locks, it extends a fixed lease if less than this share remains. */
const FRESH = 0.85

/**
 * Acquires all of several locks, or none, within one time limit.
 *
 * The call first requests all locks without a wait, usually in one request for each server and
 * slot. If another owner holds a lock, the call waits in the queue of this lock. During the wait,
 * the call holds the other locks for the {@link HoldingTime}. Then it releases these locks, and
 * requests them again later. So two calls never wait for each other forever.
 */
export class AllOrNone {
  readonly #all: readonly WantedLock[]
  readonly #meant: Acquisition
  readonly #endsAt: number
  /** How each lock is acquired. The time of `maxHoldMs` starts when all locks are held. */
  readonly #inner: InnerOptions
  readonly #taken = new Map<WantedLock, Lease>()
  readonly #clock: Clock
  readonly #holdingTime: HoldingTime
  #wanted: WantedLock[] = []
  /** True if the call found a lock of another owner. A short silence is then not an outage. */
  #known = false
  /** How many leases were lost since the call last found a lock of another owner. */
  #losses = 0

  constructor(
    all: readonly WantedLock[],
    meant: Acquisition,
    endsAt: number,
    clock: Clock,
    calledFrom?: Error,
  ) {
    this.#all = all
    this.#meant = meant
    this.#endsAt = endsAt
    this.#clock = clock
    this.#holdingTime = new HoldingTime(clock)
    this.#inner = { scoped: true, limitedLater: true, calledFrom }
  }

  /**
   * @returns the lease of each lock; null if another owner held one of the locks until the time
   * limit. Rejects at once when aborted, and releases a lock that is granted later
   */
  async run(): Promise<ReadonlyMap<WantedLock, Lease> | null> {
    const { signal } = this.#meant
    let forget = () => {}
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      forget = () => signal?.removeEventListener('abort', abort)
    })
    try {
      return await Promise.race([this.#run(), aborted])
    } finally {
      forget()
    }
  }

  async #run(): Promise<ReadonlyMap<WantedLock, Lease> | null> {
    const { signal, waitMs } = this.#meant
    try {
      const longestMs = waitMs === 0 ? Infinity : Math.max(this.#leftMs, 1)
      this.#wanted = await inCanonicalOrder(this.#all, longestMs)
      for (;;) {
        signal?.throwIfAborted()
        const busy = await this.#tryMissing()
        if (busy === null) {
          const complete = await this.#freshen()
          signal?.throwIfAborted()
          if (complete) return this.#taken
        } else if (this.#leftMs <= 0 || !(await this.#waitFor(busy))) {
          await this.#letGo()
          return null
        }
      }
    } catch (error) {
      void this.#letGo()
      throw error
    }
  }

  /** The fixed lease in milliseconds; undefined if the watchdog renews the leases. */
  get #fixedMs(): number | undefined {
    return this.#meant.renew ? undefined : this.#meant.leaseMs
  }

  get #leftMs(): number {
    return this.#endsAt - this.#clock.monotonic()
  }

  /** Requests the missing locks. Returns the first refused lock; null if all were acquired. */
  async #tryMissing(): Promise<WantedLock | null> {
    for (const group of groupsOf(this.#wanted.filter((one) => !this.#taken.has(one)))) {
      const busy = await this.#try(group)
      if (busy === null) continue
      if (!(await this.#hasAlready(busy))) {
        this.#losses = 0
        this.#known = true
        return busy
      }
      this.#wanted = this.#wanted.filter((one) => one !== busy)
    }
    return null
  }

  /** True if this call already holds the lock, through another client of the same server. */
  async #hasAlready({ lock }: WantedLock): Promise<boolean> {
    const twins = [...this.#taken].filter(([taken]) => taken.lock.rawName === lock.rawName)
    if (twins.length === 0) return false
    const { holder } = await this.#inTime(lock.peek('not acquired'), lock)
    return twins.some(([, lease]) => lease.owner === holder)
  }

  /** Sends one request for several locks. Returns a missing lock; null if all were acquired. */
  async #try(group: readonly WantedLock[]): Promise<WantedLock | null> {
    const { server } = (group[0] as WantedLock).lock.registry
    const names = group.map(({ lock }) => lock.rawName)
    const joint = new JointRequest(server as Required<typeof server>, names)
    const waitMs = this.#meant.waitMs === 0 ? 0 : Math.max(this.#leftMs, 1)
    const tried = await Promise.allSettled(
      group.map(async ({ lock, owner }, n) => {
        const together = group.length === 1 ? undefined : joint.as(n)
        let lease: Lease | null = null
        try {
          const how = { ...this.#inner, known: this.#known, isSingleAttempt: true, together }
          lease = await lock.acquire(owner, { ...this.#meant, waitMs }, how)
        } finally {
          joint.done(n, lease !== null)
        }
        return lease
      }),
    )
    for (const [n, one] of tried.entries()) {
      if (one.status === 'fulfilled' && one.value !== null) {
        this.#taken.set(group[n] as WantedLock, one.value)
      }
    }
    const failed = tried.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const missing = group.filter((one) => !this.#taken.has(one))
    // Returns the busy lock if it is still missing. Otherwise returns another missing lock.
    return missing.find((one) => one === group[joint.busy ?? -1]) ?? missing[0] ?? null
  }

  /** Waits in the queue of a lock. Returns true if the lock was acquired in time. */
  async #waitFor(busy: WantedLock): Promise<boolean> {
    const waiting = busy.lock.acquire(
      busy.owner,
      { ...this.#meant, waitMs: Math.max(1, this.#leftMs) },
      { ...this.#inner, known: true },
    )
    const keeping = this.#holdWhile(waiting, busy)
    try {
      const lease = await waiting
      if (lease !== null) this.#taken.set(busy, lease)
      return lease !== null
    } finally {
      await keeping
    }
  }

  /** Keeps the acquired locks during a wait. Releases these locks after the holding time. */
  async #holdWhile(waiting: Promise<unknown>, busy: WantedLock): Promise<void> {
    const kept = [...this.#taken.keys()]
    if (kept.length === 0) return
    const at = this.#wanted.indexOf(busy)
    const inOrder = kept.every((one) => this.#wanted.indexOf(one) < at)
    const endsAt =
      this.#clock.monotonic() + this.#holdingTime.next(inOrder, busy.lock.kind.waitsInTurn)
    let isStopped = false
    const stop = () => {
      isStopped = true
    }
    const stopped = waiting.then(stop, stop)
    const leaseMs = this.#fixedMs ?? Infinity
    let leftMs = endsAt - this.#clock.monotonic()
    for (; leftMs > leaseMs / 3; leftMs = endsAt - this.#clock.monotonic()) {
      await within(leaseMs / 3, stopped, this.#clock)
      if (isStopped) return
      // If an extension fails, `#freshen` later finds that the lease is lost.
      for (const one of kept) void this.#taken.get(one)?.extend(leaseMs).catch(ignore)
    }
    await within(Math.max(0, leftMs), stopped, this.#clock)
    if (isStopped) return
    this.#holdingTime.wasTooShort(inOrder)
    await this.#letGo(kept)
  }

  /** Extends fixed leases and drops lost leases. Returns true if the call holds all locks. */
  async #freshen(): Promise<boolean> {
    const leaseMs = this.#fixedMs
    await Promise.all(
      [...this.#taken].map(async ([wanted, lease]) => {
        try {
          if (leaseMs !== undefined && lease.remaining() < leaseMs * FRESH) {
            if (this.#taken.size > 1) await this.#inTime(lease.extend(leaseMs), wanted.lock)
          }
          lease.assertValid()
        } catch (error) {
          if (!(error instanceof LeaseLostError) || ++this.#losses >= MOST_LOSSES) throw error
          await this.#letGo([wanted])
        }
      }),
    )
    return this.#taken.size === this.#wanted.length
  }

  /** Returns the answer. Throws if the answer is late. With `waitMs` 0, no answer is late. */
  async #inTime<T>(answer: Promise<T>, { name, registry }: OneLock): Promise<T> {
    if (this.#meant.waitMs === 0) return answer
    const none = Symbol('none')
    let come: T | typeof none = none
    const coming = answer.then((one) => {
      come = one
    })
    await within(Math.max(this.#leftMs, 0), coming, this.#clock)
    if (come !== none) return come
    const what = `not acquired within ${this.#meant.waitMs} ms`
    throw silentError(name, what, registry.limits)
  }

  /** Releases leases. The client retries unconfirmed releases in the background. */
  async #letGo(which: readonly WantedLock[] = this.#wanted): Promise<void> {
    const leases = which.flatMap((one) => this.#taken.get(one) ?? [])
    for (const one of which) this.#taken.delete(one)
    if (leases.length === 0) return
    const released = Promise.allSettled(leases.reverse().map((lease) => lease.release()))
    const inMs = this.#meant.waitMs === 0 ? Infinity : Math.max(this.#leftMs, 0)
    await within(inMs, released, this.#clock)
  }
}

const ignore = () => {}
