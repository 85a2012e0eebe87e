import { InvalidArgumentError, type Words } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { HeldLease } from '../lease/lease.ts'
import type { Defaults } from '../options/acquisition.ts'
import type { Frames } from '../owner/frames.ts'
import { HeldLeases } from '../owner/held-leases.ts'
import type { StoredLease } from '../owner/lease-holder.ts'
import type { Owner } from '../owner/owner.ts'
import type { Owners } from '../owner/owners.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { MasterHealth } from '../servers/master-health.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { Clients } from './clients.ts'
import { closeAll, type EndedHolds } from './close-all.ts'
import { closedError, closingError } from './closed-errors.ts'
import { Draining } from './draining.ts'
import type { FreeWatches } from './free-watches.ts'
import type { CutOffHold, Holdings } from './holdings.ts'
import type { Kept } from './kept.ts'
import { toRenew } from './kind-verbs.ts'
import { countsOf, holdingsOf } from './list-holdings.ts'
import { LocalLock } from './local-lock.ts'
import { LocksByName } from './locks-by-name.ts'
import { assertNotLonger } from './longest-lease.ts'
import { sendRelease } from './release.ts'
import type { Revocations } from './revocations.ts'
import { leasesOf, type Services } from './services.ts'

/** The local locks of one client on one server or quorum, by name. */
export class LocalLocks {
  readonly frames: Frames
  /** The held leases of multi-locks. `unlock()` finds a lease here. */
  readonly multiLeases: HeldLeases<StoredLease>
  readonly defaults: Defaults
  readonly clients: Clients
  readonly freeWatches: FreeWatches
  readonly revocations: Revocations
  readonly #owners: Owners
  readonly #services: Services
  readonly #all = new LocksByName()
  /** The holds that `close()` ended and whose release is under way. */
  readonly #releasing = new Set<CutOffHold>()
  #draining: Draining | undefined
  #closed = false

  constructor(
    owners: Owners,
    services: Services & { readonly freeWatches: FreeWatches; readonly revocations: Revocations },
    frames: Frames,
    defaults: Defaults,
  ) {
    this.#owners = owners
    this.#services = services
    this.freeWatches = services.freeWatches
    this.revocations = services.revocations
    this.frames = frames
    this.defaults = defaults
    this.multiLeases = new HeldLeases(services.clock)
    this.clients = new Clients(services)
  }

  get leaseMs(): number {
    return this.defaults.leaseMs
  }

  get clientId(): string {
    return this.#owners.clientId
  }

  get server() {
    return this.#services.server
  }

  get limits() {
    return this.#services.limits
  }

  get presence() {
    return this.#services.presence
  }

  get clock() {
    return this.#services.clock
  }

  get heldWatch() {
    return this.#services.heldWatch
  }

  get emit() {
    return this.#services.emit
  }

  leasesOf(kind: HoldKind): HeldLeases<HeldLease> {
    return leasesOf(this.#services, kind)
  }

  newOwner(): Owner {
    return this.#owners.next()
  }

  /**
   * Sends a request that belongs to no waiter and to no hold of this client. Repeats the request
   * after temporary failures.
   *
   * @param failed the words of the error for what was not done, such as `not inspected`; or a
   *   function that returns these words
   */
  async request<T>(
    lockName: string,
    failed: string | ((failure: CallFailure) => string),
    call: (callMs: number) => Promise<T>,
    words?: Words,
  ): Promise<T> {
    this.assertOpen(lockName)
    const retryBudget = new RetryBudget(lockName, this.#services.limits, undefined, words)
    return retryBudget.retry(call, typeof failed === 'string' ? () => failed : failed)
  }

  /**
   * Asks each master for its health.
   *
   * @throws `InvalidArgumentError` if the client has one server
   */
  async masters(): Promise<readonly MasterHealth[]> {
    this.assertOpen()
    const { server, limits } = this.#services
    if (server.health === undefined) {
      throw new InvalidArgumentError(
        'masters() needs a client with `masters`, and this client has one server. `npx holdfast doctor` checks that server.',
      )
    }
    return server.health(this.holds.map(toRenew), limits.commandTimeoutMs)
  }

  get holds(): Hold[] {
    return [...this.#all.values()].flatMap(({ holds }) => holds.all)
  }

  get counts(): { held: number; waiting: number } {
    return countsOf(this.#all.values())
  }

  /** All holds and waiters of this client. Holds that `close()` is still releasing are included. */
  get holdings(): Holdings {
    const { held, waiting } = holdingsOf([...this.#all.values()], this.clock.monotonic())
    return { held: [...held, ...this.#releasing], waiting }
  }

  get size(): number {
    return this.#all.size
  }

  /** The kept objects of all locks that this client may keep. */
  get kept(): Kept[] {
    return [...this.#all.values()].flatMap(({ kept }) => kept ?? [])
  }

  /** Returns the local lock; undefined if this client does not use the lock now. */
  find(rawName: string): LocalLock | undefined {
    return this.#all.inUse(rawName)
  }

  lock(name: string, rawName: string): LocalLock {
    return (
      this.#all.get(rawName) ?? this.#all.add(new LocalLock(name, rawName, this.#services, this))
    )
  }

  /** Informs a drain that this client neither holds the lock nor waits for it. */
  becameFree(lock: LocalLock): void {
    this.#draining?.free(lock)
  }

  /** Marks a lock as idle. An idle lock stays in memory until too many locks are idle. */
  becameIdle(lock: LocalLock): void {
    this.#all.becameIdle(lock)
  }

  assertOpen(lockName?: string): void {
    if (this.#closed) throw closedError(lockName)
  }

  /** Throws if the client is closed. In a drain, throws if this owner does not hold the lock. */
  assertAdmits(lockName: string, rawName?: string, owner?: Owner): void {
    this.assertOpen(lockName)
    if (this.#draining === undefined) return
    if (rawName !== undefined && owner !== undefined && this.find(rawName)?.isHeldBy(owner)) return
    throw closingError(lockName)
  }

  /** Limits the hold to `maxHoldMs` ms from now, but only if the watchdog renews it for exactly one acquisition. */
  limit(hold: Hold, maxHoldMs: number): void {
    if (maxHoldMs === Infinity || hold.watched.length !== 1 || !hold.live) return
    hold.limit(maxHoldMs, this.clock.monotonic())
    this.#services.watchdog.watch(hold)
  }

  /** From now on, the watchdog renews this leader's hold for at most `maxDrainMs` milliseconds. */
  limitDrain(hold: Hold, maxDrainMs: number): void {
    if (maxDrainMs === Infinity || !hold.live) return
    hold.drainMs = maxDrainMs
    hold.limitAt = this.clock.monotonic() + maxDrainMs
    this.#services.watchdog.watch(hold)
  }

  assertNotLonger(lockName: string, leaseMs = 0): void {
    assertNotLonger(this.#services, lockName, leaseMs)
  }

  /**
   * Refuses new acquisitions. Rejects each waiter whose owner does not hold the lock.
   *
   * @returns resolves when this client holds no locks and waits for none
   */
  drain(): Promise<void> {
    if (this.#draining === undefined) {
      const all = [...this.#all.values()]
      this.#draining = new Draining(all)
      for (const kept of this.kept) kept.stopKeeping()
      for (const lock of all) {
        const isNew = ({ request }: Waiter) => !lock.isHeldBy(request.owner)
        lock.waiters.rejectAll(closingError(lock.name), isNew)
      }
    }
    return this.#draining.done
  }

  /** Releases all holds and rejects all waiters. */
  shutDown(): EndedHolds {
    this.#closed = true
    this.clients.unregister()
    this.#services.leases.stopTimer()
    this.#services.sharedLeases.stopTimer()
    this.multiLeases.stopTimer()
    this.freeWatches.rejectAll(closedError())
    this.revocations.stopListening()
    const all = [...this.#all.values()]
    return closeAll(all, closedError, sendRelease, this.clock.monotonic(), this.#releasing)
  }

  /** Called at the end of `close()`. From now on, `holdings` lists no hold that `close()` was still releasing. */
  closed(): void {
    this.#releasing.clear()
  }
}
