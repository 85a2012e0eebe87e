import type { ClosedError } from '../errors.ts'
import { BackgroundTasks } from '../kit/background-tasks.ts'
import { Linked } from '../kit/linked-list.ts'
import { NOW } from '../kit/timers.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { Owner } from '../owner/owner.ts'
import type { NextHolder, SeenHold } from '../servers/answers.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import { ReleaseListener } from '../waiting/release-listener.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import { ServerHealth } from '../waiting/server-health.ts'
import { WaitQueue } from '../waiting/wait-queue.ts'
import type { Sight, Waiter } from '../waiting/waiter.ts'
import { HandOverBudget } from './hand-over-budget.ts'
import { Holds } from './holds.ts'
import { type KindVerbs, kindOf, type RemoteKind } from './kind-verbs.ts'
import type { QueuedWaiters } from './queued-waiters.ts'
import type { Services } from './services.ts'

/** Where it is kept. */
interface Host {
  /** Nobody here has or wants the lock. */
  becameFree(lock: LocalLock): void
  /** Nor is there anything to remember of it. */
  becameIdle(lock: LocalLock): void
}

/**
 * One lock in this client: who has it, and who waits for it. However many wait here, only the first of
 * them asks for it, and when it is released with somebody waiting, it goes to that one directly. The
 * verbs stand on this: `acquire`, `reenter`, `release` and `extend`.
 */
export class LocalLock extends Linked<LocalLock> {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  /** The verbs that the place has for every lock. */
  readonly remote: RemoteLock
  readonly services: Services
  readonly holds: Holds
  /** What the last of its waiters who asked has seen of it: the others do not ask. */
  sight: Sight | undefined
  readonly waiters = new WaitQueue()
  readonly handOverBudget: HandOverBudget
  readonly tasks = new BackgroundTasks(this)
  /** Why nobody gets it here any more. */
  closed: ClosedError | undefined
  /** Whether the lock is on its way from one owner in this client to another. */
  isHandingOver = false
  /** Set while somebody here waits in turn, or has it so. */
  queued: QueuedWaiters | undefined
  readonly #host: Host
  // What follows is made when it is needed: many locks are held, and few of them waited for.
  #releases: ReleaseListener | undefined
  /** Those of kinds that have verbs of their own. */
  #verbs: WeakMap<RemoteKind, KindVerbs> | undefined
  #health: ServerHealth | undefined

  constructor(name: string, rawName: string, services: Services, host: Host) {
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
    this.#releases?.close()
    if (this.isOccupied) return
    this.#host.becameFree(this)
    if (!this.handOverBudget.isForgotten(() => this.tasks.settle())) return
    this.queued?.close()
    this.queued = undefined
    this.#host.becameIdle(this)
  }

  /** The verbs of the kind that the hold or the request is of. */
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

  /** Whether nobody here has or wants the lock. */
  get isIdle(): boolean {
    return this.waiters.isEmpty && !this.isOccupied && this.tasks.isQuiet
  }

  /** The lock is in this client's hands, or passes between them. */
  get isOccupied(): boolean {
    return this.isHandingOver || !this.holds.isEmpty
  }

  /** Whether a request has to wait for somebody in this client. */
  keepsOut(request: Pick<Hold, 'owner' | 'kind'>): boolean {
    return this.isHandingOver || this.holds.keepsOut(request)
  }

  /** Whether the owner has the lock in this client, as far as it knows. */
  isHeldBy(owner: Owner): boolean {
    return this.holds.all.some((hold) => hold.owner === owner)
  }

  /** Who of those meant has it in this client, so that others have to wait who want it as that kind. */
  holder(kind: HoldKind, isMeant: (owner: Owner) => boolean): Owner | undefined {
    const keepsOut = (hold: Hold) => !hold.kind.isShared || !kind.isShared
    return this.holds.all.find((hold) => keepsOut(hold) && isMeant(hold.owner))?.owner
  }

  /** Whether an acquisition of this owner is under way. */
  isPending(owner: Owner): boolean {
    return this.waiters.has(owner)
  }

  /** What those who wait here know of the server they know together. */
  newSharedBudget({ kind, waitMs }: Pick<Waiter['request'], 'kind' | 'waitMs'>): RetryBudget {
    this.#health ??= new ServerHealth(this.services.clock)
    return new RetryBudget(this.name, this.services.limits, this.#health, kind.words, waitMs)
  }

  newBudget({ words }: HoldKind): RetryBudget {
    return new RetryBudget(this.name, this.services.limits, undefined, words)
  }

  /** It is known that the waiter has to wait for somebody else. */
  announce(waiter: Waiter): void {
    // One that has given up meanwhile waits for nobody.
    if (waiter.announced || waiter.settled) return
    waiter.announced = true
    this.services.waitReports.began(this)
    const own = this.holds.exclusive
    if (own !== undefined) waiter.saw({ holder: own.id.wireOwner })
    this.services.emit('wait', { name: this.name })
  }

  /** The waiter wants the lock no more, be it that it has got it. */
  settled(waiter: Waiter): void {
    const { waiters, tasks } = this
    waiters.leave(waiter)
    if (waiters.isEmpty) {
      this.services.waitReports.ended(this)
      // Whoever comes next knows no less without it.
      if (this.#health?.isClear) this.#health = undefined
      // Where something is under way for the last one its end will do.
      if (!tasks.isQuiet && !this.#releases?.isListening) return
    }
    // Later, for all of them may be about to leave: by one signal, or at close().
    this.advanceLater()
  }

  advanceLater(): void {
    void NOW.then(() => this.advance())
  }

  /** Listens for releases by others, for those who wait here. */
  get releases(): ReleaseListener {
    this.#releases ??= new ReleaseListener(this)
    return this.#releases
  }

  /** Whether no release by another client can be missed. */
  get hearsReleases(): boolean {
    return this.#releases?.isConfirmed === true
  }

  /**
   * How many of those whom a release is told to are this client: 1 or 0; -1 where the server counts too
   * few, so that there always seems to be one more.
   */
  get listeners(): number {
    if (!this.services.server.countsListeners) return -1
    return this.hearsReleases || this.services.freeWatches.hears(this.rawName) ? 1 : 0
  }

  /** @param message by which it is told, if it is */
  mayBeFree(message?: string): void {
    const { first, firstAside, firstBeside } = this.waiters
    if (first?.isMeant(message)) first.wakeEvent.set()
    if (firstAside?.isMeant(message)) firstAside.wakeEvent.set()
    if (firstBeside?.isMeant(message)) firstBeside.wakeEvent.set()
  }

  /** The first in each line looks after itself; the last to leave stops listening. */
  advance(): void {
    const { waiters } = this
    if (waiters.isQueueEmpty) {
      this.#releases?.close()
      this.tasks.settle()
      return
    }
    this.#lead(waiters.firstBeside)
    this.#lead(waiters.first)
    this.#lead(waiters.firstAside)
  }

  #lead(first: Waiter | undefined): void {
    if (first?.contending === false) first.contend()
    else if (first?.waitsHere && !this.keepsOut(first.request)) first.wakeEvent.set()
  }

  /**
   * The lock is not in this client's hands any more, or may not be.
   *
   * @param following who has it now, if that is known
   */
  lookAgain(following?: NextHolder): void {
    this.advance()
    this.mayBeFree()
    if (following?.own) this.queued?.granted(following.owner, following.token, 'local')
    else if (following === undefined && !this.isOccupied) this.queued?.lookAgain()
  }

  /** Somebody used force: if the hold was this client's it is over at once. */
  forced(seen: SeenHold): void {
    this.holds.forced(seen)
    this.lookAgain()
  }

  /**
   * Goes on freeing in the background. The name is not used again.
   *
   * @param of a hold in that name, or a request
   * @param untilMs until when a delayed request in that name may still run
   * @param leaseMs the longest lease that it could have
   */
  abandon(of: Pick<Hold, 'kind'>, owner: string, untilMs: number, leaseMs: number): void {
    this.remoteOf(of).abandon(owner, untilMs, leaseMs)
  }

  abandonHold(hold: Hold): void {
    this.abandon(hold, hold.id.wireOwner, hold.doubtUntilMs, hold.leaseMs)
  }
}
