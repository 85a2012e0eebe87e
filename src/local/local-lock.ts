import type { ClosedError } from '../errors.ts'
import { BackgroundTasks } from '../kit/background-tasks.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { Owner } from '../owner/owner.ts'
import type { NextHolder, SeenHold } from '../servers/answers.ts'
import { ReleaseListener } from '../waiting/release-listener.ts'
import { ServerHealth } from '../waiting/server-health.ts'
import { WaitQueue } from '../waiting/wait-queue.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { Acquire } from './acquire.ts'
import { AcquireRequests } from './acquire-requests.ts'
import { CurrentHold } from './current-hold.ts'
import type { FairKind, LocalFairQueue } from './fair-kind.ts'
import { HandOverBudget } from './hand-over-budget.ts'
import { HoldRequests } from './hold-requests.ts'
import type { Host } from './host.ts'
import { LockSite } from './lock-site.ts'
import { Release } from './release.ts'
import type { Services } from './services.ts'

/** What is to be done later in this turn follows it: `queueMicrotask` makes an async resource each time. */
const NOW = Promise.resolve()

/**
 * One client at one lock. However many wait here, only the first of them talks to Redis, and when
 * the lock is released with somebody waiting, it goes to that one directly. Those who wait in turn
 * do so in Redis instead, each at its own place among those of all clients.
 */
export class LocalLock {
  readonly #site: LockSite
  readonly #acquireRequests: AcquireRequests
  readonly #holdRequests: HoldRequests
  readonly #current: CurrentHold
  readonly #releases: ReleaseListener
  readonly #tasks: BackgroundTasks
  readonly #acquire: Acquire
  readonly #release: Release
  readonly #fair: FairKind | undefined
  #fairQueue: LocalFairQueue | undefined
  readonly #host: Host = {
    isOccupied: () => this.#occupied,
    isWantedByOthers: () => this.#waiters.isShared,
    announce: (waiter) => this.#site.announce(waiter),
    begin: (waiter, hold) => this.#granted(waiter, hold),
    reenter: (hold, waiter) => this.#reenter(hold, waiter),
  }
  readonly #waiters = new WaitQueue()
  readonly #handOverBudget = new HandOverBudget()
  readonly #health = new ServerHealth()
  readonly #advanceNext = () => this.#advance()

  constructor(
    name: string,
    rawName: string,
    services: Services,
    fair: FairKind | undefined,
    onIdle: () => void,
  ) {
    this.#fair = fair
    this.#site = new LockSite(name, rawName, services)
    this.#acquireRequests = new AcquireRequests(this.#site)
    this.#holdRequests = new HoldRequests(this.#site)
    this.#current = new CurrentHold(this.#site, () => this.#lookAgain())
    this.#releases = new ReleaseListener(this.#site.remote, services.server, () =>
      this.#waiters.first?.wakeEvent.set(),
    )
    this.#acquire = new Acquire(
      this.#host,
      this.#acquireRequests,
      this.#current,
      this.#handOverBudget,
      this.#releases,
    )
    this.#release = new Release(
      {
        next: () => this.#waiters.first,
        waitInTurn: () => this.#fairQueue?.isEmpty === false,
        begin: this.#host.begin,
        lookAgain: (following) => this.#lookAgain(following),
      },
      this.#acquireRequests,
      this.#holdRequests,
      this.#current,
      this.#handOverBudget,
      this.#releases,
    )
    this.#tasks = new BackgroundTasks(
      (error) => services.emit('error', error),
      () => {
        if (!this.#waiters.isEmpty || this.#occupied) return
        if (!this.#handOverBudget.isForgotten(() => this.#tasks.settle())) return
        this.#fairQueue?.close()
        this.#fairQueue = undefined
        onIdle()
      },
    )
  }

  get name(): string {
    return this.#site.name
  }

  /** Whether nobody here has or wants the lock. */
  get isIdle(): boolean {
    return this.#waiters.isEmpty && !this.#occupied && this.#tasks.isQuiet
  }

  /** The owner who has the lock in this client, as far as it knows. */
  get holder(): Owner | null {
    return this.#current.hold?.owner ?? null
  }

  /** Whether an acquisition of this owner is under way. */
  isPending(owner: Owner): boolean {
    return this.#waiters.has(owner)
  }

  /** @returns the lease, or null when it was not to be had in the time given */
  acquire(request: AcquireRequest): Promise<Lease | null> {
    const waiter = new Waiter(request, this.#site.retryBudget(this.#health), () => {
      this.#waiters.leave(waiter)
      // Later, for all of them may be about to leave: by one signal, or at close().
      void NOW.then(this.#advanceNext)
    })
    this.#waiters.enter(waiter)
    const { hold } = this.#current
    if (hold?.owner === request.owner) {
      this.#tasks.run(this.#reenter(hold, waiter))
    } else if (request.fair) {
      this.#tasks.run(this.#queue.wait(waiter), waiter)
    } else if (waiter.asksOnce) {
      this.#tasks.run(this.#acquire.run(waiter), waiter)
    } else {
      if (this.#waiters.first !== undefined || this.#occupied) this.#site.announce(waiter)
      // Whoever hears of it may abort.
      if (waiter.settled) return waiter.promise
      this.#waiters.queue(waiter)
      this.#advance()
    }
    return waiter.promise
  }

  /**
   * Undoes one acquisition of the hold.
   *
   * @returns whether the lock was still held; rejects when Redis did not confirm it
   */
  release(hold: Hold, watched: boolean): Promise<boolean> {
    hold.loseIfExpired()
    hold.count -= 1
    if (!hold.live) {
      if (hold.count === 0) this.#holdRequests.abandon(hold)
      return Promise.resolve(false)
    }
    if (watched) this.#current.unwatch(hold)
    const work = hold.count > 0 ? this.#holdRequests.lower(hold) : this.#release.end(hold)
    this.#tasks.count(work)
    return work
  }

  extend(hold: Hold, leaseMs: number): Promise<void> {
    return this.#holdRequests.extend(hold, leaseMs)
  }

  /** Somebody used force: if the hold was this client's it is over at once. */
  forced(seen: SeenHold): void {
    this.#current.forced(seen)
    this.#lookAgain()
  }

  /** Lets nobody wait any more and frees what is held. Resolves when all of it is done. */
  async close(reason: ClosedError): Promise<void> {
    const { hold } = this.#current
    this.#waiters.rejectAll(reason)
    if (hold !== null) {
      hold.count = 0
      this.#tasks.run(this.#release.end(hold, reason))
    }
    await this.#tasks.quiet()
  }

  /** The lock is in this client's hands, or passes between them. */
  get #occupied(): boolean {
    return this.#release.isUnderWay || this.#current.hold !== null
  }

  /** The first in the queue looks after itself; the last to leave stops listening. */
  #advance(): void {
    const first = this.#waiters.first
    if (first === undefined) {
      this.#releases.close()
      this.#tasks.settle()
    } else if (!first.contending) {
      this.#tasks.run(this.#acquire.run(first), first)
    }
  }

  /** @param following who has it now, if that is known */
  #lookAgain(following?: NextHolder): void {
    this.#advance()
    this.#waiters.first?.wakeEvent.set()
    if (following?.own) this.#queue.granted(following.owner, following.token)
    else if (following === undefined && !this.#occupied) this.#fairQueue?.lookAgain()
  }

  /** Those who wait in turn. */
  get #queue(): LocalFairQueue {
    this.#fairQueue ??= (this.#fair as FairKind).newQueue(this.#site, this.#current, this.#host)
    return this.#fairQueue
  }

  #granted(waiter: Waiter, hold: Hold): void {
    const { request } = waiter
    this.#current.begin(hold)
    this.#handOverBudget.acquired()
    if (waiter.settled) {
      this.#tasks.run(this.release(hold, false))
      return
    }
    this.#current.watch(hold, request)
    // Before listeners hear of it: one of them may abort, and its caller has it already.
    waiter.resolve(hold)
    this.#current.tell(hold, waiter.waitedMs)
    // Whoever hears of it may have released it.
    if (this.#current.hold !== hold) return
    if (!this.#waiters.isEmpty && this.#waiters.has(request.owner))
      this.#fairQueue?.wake(request.owner)
    for (const other of this.#waiters.queuedWith(waiter)) {
      if (other.contending) other.wakeEvent.set()
      else this.#tasks.run(this.#reenter(hold, other))
    }
  }

  async #reenter(hold: Hold, waiter: Waiter): Promise<void> {
    this.#waiters.unqueue(waiter)
    this.#advance()
    hold.count += 1
    hold.untouched = false
    const entered = await this.#acquireRequests.reenter(waiter, hold, () => {
      this.#current.watch(hold, waiter.request)
      waiter.resolve(hold)
    })
    if (!entered) await this.release(hold, false)
  }
}
