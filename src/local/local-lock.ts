import type { ClosedError } from '../errors.ts'
import { BackgroundTasks } from '../kit/background-tasks.ts'
import type { Moment } from '../kit/clock.ts'
import { Linked } from '../kit/linked-list.ts'
import { NOW } from '../kit/timers.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { Owner } from '../owner/owner.ts'
import type { NextHolder, SeenHold } from '../servers/answers.ts'
import { type Hint, MISSED } from '../servers/hint.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import { ReleaseListener } from '../waiting/release-listener.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import { ServerHealth } from '../waiting/server-health.ts'
import type { Sight } from '../waiting/sight.ts'
import { WaitQueue } from '../waiting/wait-queue.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { HandOverBudget } from './hand-over-budget.ts'
import { Holds } from './holds.ts'
import type { Kept } from './kept.ts'
import { type KindVerbs, kindOf, type RemoteKind } from './kind-verbs.ts'
import type { QueuedWaiters } from './queued-waiters.ts'
import type { Services } from './services.ts'

interface LocalLockEvents {
  /** Called when this client neither holds the lock nor waits for it. */
  becameFree(lock: LocalLock): void
  /** Called after `becameFree`, when this client no longer pauses for other clients. */
  becameIdle(lock: LocalLock): void
}

/**
 * One lock in this client: its holds, and its waiters in a `WaitQueue`. Usually only the first waiter of each line of
 * the `WaitQueue` sends requests. If possible, a release hands the lock over to a waiter of this client.
 */
export class LocalLock extends Linked<LocalLock> {
  readonly name: string
  readonly rawName: string
  /** The requests that kinds without their own requests use. */
  readonly remote: RemoteLock
  readonly services: Services
  readonly holds: Holds
  /** The lock's state in the last refusal, for errors of waiters that have sent no request. */
  sight: Sight | undefined
  readonly waiters = new WaitQueue()
  readonly handOverBudget: HandOverBudget
  readonly tasks = new BackgroundTasks(this)
  /** The error for new waiters; undefined until the client closes. */
  closed: ClosedError | undefined
  /** True while a hand-over request is in flight. */
  isHandingOver = false
  /** Set from the first wait in the server's queue, until this client no longer uses the lock. */
  queuedWaiters: QueuedWaiters | undefined
  /** Set from the first call with a `keepMs`. */
  kept: Kept | undefined
  readonly #host: LocalLockEvents
  // Created on first use, because a client may have many locks, and few of them have waiters.
  #releases: ReleaseListener | undefined
  /** The requests of this lock, for each kind with its own `newVerbs`. All other kinds use `remote`. */
  #verbs: WeakMap<RemoteKind, KindVerbs> | undefined
  #health: ServerHealth | undefined

  constructor(name: string, rawName: string, services: Services, host: LocalLockEvents) {
    super()
    this.name = name
    this.rawName = rawName
    this.remote = services.server.lock(rawName)
    this.services = services
    this.#host = host
    this.handOverBudget = new HandOverBudget(services.clock)
    this.holds = new Holds(this)
  }

  taskFailed(error: Error): void {
    this.services.emit('error', error)
  }

  tasksEnded(): void {
    if (!this.waiters.isEmpty) return
    this.#releases?.stopListening()
    if (this.isOccupied) return
    this.#host.becameFree(this)
    if (!this.handOverBudget.mayForget(() => this.tasks.reportIfQuiet())) return
    this.queuedWaiters?.stopHeartbeat()
    this.queuedWaiters = undefined
    this.#host.becameIdle(this)
  }

  /** Returns the requests for the kind of this hold or request. */
  remoteOf(one: Pick<Hold, 'kind'>): KindVerbs {
    const kind = kindOf(one)
    if (kind.newVerbs === undefined) return this.remote
    this.#verbs ??= new WeakMap()
    let verbs = this.#verbs.get(kind)
    if (verbs === undefined) {
      verbs = kind.newVerbs(this)
      this.#verbs.set(kind, verbs)
    }
    return verbs
  }

  /** True if this client neither holds the lock nor waits for it, and no task is under way. */
  get isIdle(): boolean {
    return this.waiters.isEmpty && !this.isOccupied && this.tasks.isQuiet
  }

  /** True if this client holds or keeps the lock, or a hand-over request is in flight. */
  get isOccupied(): boolean {
    return this.isHandingOver || !this.holds.isEmpty || this.kept?.owner !== undefined
  }

  /** True if a hold of this client, or a hand-over request in flight, prevents the request. */
  excludes(request: Pick<Hold, 'owner' | 'kind'>): boolean {
    return this.isHandingOver || this.holds.excludes(request)
  }

  /** True if this client knows that the owner holds the lock. */
  isHeldBy(owner: Owner): boolean {
    return this.holds.all.some((hold) => hold.owner === owner)
  }

  /** Returns an owner that `isMeant` accepts, and whose hold prevents requests of this kind; undefined for none. */
  holder(kind: HoldKind, isMeant: (owner: Owner) => boolean): Owner | undefined {
    const keepsOut = (hold: Hold) => !hold.kind.isShared || !kind.isShared
    return this.holds.all.find((hold) => keepsOut(hold) && isMeant(hold.owner))?.owner
  }

  /** True if an acquisition of this owner is under way. */
  isPending(owner: Owner): boolean {
    return this.waiters.has(owner)
  }

  /** Makes the retry budget of a waiter. All waiters of a lock share the health of the server. */
  newSharedBudget({ kind, waitMs }: Pick<Waiter['request'], 'kind' | 'waitMs'>): RetryBudget {
    this.#health ??= new ServerHealth(this.services.clock)
    return new RetryBudget(this.name, this.services.limits, this.#health, kind.words, waitMs)
  }

  newBudget({ words }: HoldKind): RetryBudget {
    return new RetryBudget(this.name, this.services.limits, undefined, words)
  }

  /** Emits the event `wait` when a waiter must wait for another owner; once for each waiter. */
  announce(waiter: Waiter): void {
    if (waiter.announced || waiter.settled) return
    waiter.announced = true
    this.services.waitReports.began(this)
    const own = this.holds.exclusive
    if (own !== undefined) waiter.saw({ holder: own.id.ownerId })
    this.services.emit('wait', { name: this.name })
  }

  /** Removes a waiter that has settled, and later starts or wakes the next waiters. */
  settled(waiter: Waiter): void {
    const { waiters, tasks } = this
    waiters.remove(waiter)
    if (waiters.isEmpty) {
      this.services.waitReports.waitEnded(this)
      // If all requests have answers, later waiters can begin with a new health.
      if (this.#health?.isClear) this.#health = undefined
    }
    // No waiter needs to start now. When the last task ends, `tasksEnded` is called.
    if (waiters.isQueueEmpty && !tasks.isQuiet && !this.#releases?.isListening) return
    // The next waiter starts later, because one signal or `close()` may make many waiters leave
    // now.
    this.advanceLater()
  }

  advanceLater(): void {
    void NOW.then(() => this.advance())
  }

  /** Listens for releases by other clients, while a waiter of this client needs the lock. */
  get releases(): ReleaseListener {
    this.#releases ??= new ReleaseListener(this)
    return this.#releases
  }

  /** True if a waiter of this client listens to the messages of the lock, and the subscription is confirmed. */
  get listensForReleases(): boolean {
    return this.#releases?.isConfirmed === true
  }

  /** True if a waiter or another call of this client listens for releases, and its subscription is confirmed. */
  get listens(): boolean {
    return this.listensForReleases || this.services.freeWatches.listens(this.rawName)
  }

  /** Wakes the first waiter of each line if the hint is meant for that waiter. */
  mayBeFree(hint: Hint = MISSED): void {
    const { first, firstAside, firstBeside } = this.waiters
    if (first?.isMeant(hint)) first.wakeEvent.set()
    if (firstAside?.isMeant(hint)) firstAside.wakeEvent.set()
    if (firstBeside?.isMeant(hint)) firstBeside.wakeEvent.set()
  }

  /** Starts the first waiter of each line, or wakes it if no hold prevents its request. If none waits, unsubscribes. */
  advance(): void {
    const { waiters } = this
    if (waiters.isQueueEmpty) {
      this.#releases?.stopListening()
      this.tasks.reportIfQuiet()
      return
    }
    this.#startOrWake(waiters.firstBeside)
    this.#startOrWake(waiters.first)
    this.#startOrWake(waiters.firstAside)
  }

  #startOrWake(first: Waiter | undefined): void {
    if (first?.contending === false) first.contend()
    else if (first?.waitsHere && !this.excludes(first.request)) first.wakeEvent.set()
  }

  /**
   * Starts or wakes waiters of this client, because the lock may be free or may have a new holder.
   *
   * @param following the new holder in the answer to a release; undefined if no answer names it
   * @param releasedAt when this release was sent; undefined if unknown
   */
  checkAgain(following?: NextHolder, releasedAt?: Moment): void {
    this.advance()
    this.mayBeFree()
    if (following?.own) this.queuedWaiters?.onOwnRelease(following, releasedAt)
    else if (following === undefined && !this.isOccupied) this.queuedWaiters?.checkAgain()
  }

  /** Called after `forceUnlock()` ended a hold. The same hold in this client ends at once. */
  forced(seen: SeenHold): void {
    this.kept?.forced(seen.owner)
    this.holds.forced(seen)
    this.checkAgain()
  }

  /**
   * Releases the owner id in the background, and repeats the release until the server confirms it.
   * No later request may use this id.
   *
   * @param of a hold or request with this owner id
   * @param untilMs until when a late request with this id may run, in ms on the monotonic clock; 0 if none may run
   * @param leaseMs the longest lease that this id may have, in milliseconds
   */
  abandon(of: Pick<Hold, 'kind'>, owner: string, untilMs: number, leaseMs: number): void {
    this.remoteOf(of).abandon(owner, untilMs, leaseMs)
  }

  abandonHold(hold: Hold): void {
    this.abandon(hold, hold.id.ownerId, hold.doubtUntilMs, hold.leaseMs)
  }
}
