import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { Owner } from '../owner/owner.ts'
import type { Following } from '../redis/answers.ts'
import type { Seen } from '../redis/force.ts'
import { Tasks } from '../redis/tasks.ts'
import type { Context } from './context.ts'
import { Conversation } from './conversation.ts'
import { FairQueue } from './fair-queue.ts'
import { Health } from './health.ts'
import { HoldCalls } from './hold-calls.ts'
import type { Host } from './host.ts'
import { Race } from './race.ts'
import { ReleaseListener } from './release-listener.ts'
import { Site } from './site.ts'
import { Succession } from './succession.ts'
import { Tenancy } from './tenancy.ts'
import { Turn } from './turn.ts'
import { type Request, Waiter } from './waiter.ts'
import { WaitingRoom } from './waiting-room.ts'

/** What is to be done later in this turn follows it: `queueMicrotask` makes an async resource each time. */
const NOW = Promise.resolve()

/**
 * One client at one lock. However many wait here, only the first of them talks to Redis, and when
 * the lock is released with somebody waiting, it goes to that one directly. Those who wait in turn
 * do so in Redis instead, each at its own place among those of all clients.
 */
export class Contender {
  readonly #site: Site
  readonly #talk: Conversation
  readonly #calls: HoldCalls
  readonly #tenancy: Tenancy
  readonly #releases: ReleaseListener
  readonly #tasks: Tasks
  readonly #race: Race
  readonly #succession: Succession
  #fairQueue: FairQueue | undefined
  readonly #host: Host = {
    isOccupied: () => this.#occupied,
    isWantedByOthers: () => this.#room.isShared,
    announce: (waiter) => this.#site.announce(waiter),
    begin: (waiter, hold) => this.#granted(waiter, hold),
    reenter: (hold, waiter) => this.#reenter(hold, waiter),
  }
  readonly #room = new WaitingRoom()
  readonly #turn = new Turn()
  readonly #health = new Health()
  readonly #advanceNext = () => this.#advance()

  constructor(name: string, rawName: string, context: Context, onIdle: () => void) {
    this.#site = new Site(name, rawName, context)
    this.#talk = new Conversation(this.#site)
    this.#calls = new HoldCalls(this.#site)
    this.#tenancy = new Tenancy(this.#site, () => this.#lookAgain())
    this.#releases = new ReleaseListener(this.#site, () => this.#room.first?.bell.ring())
    this.#race = new Race(this.#host, this.#talk, this.#tenancy, this.#turn, this.#releases)
    this.#succession = new Succession(
      {
        next: () => this.#room.first,
        waitInTurn: () => this.#fairQueue?.isEmpty === false,
        begin: this.#host.begin,
        lookAgain: (following) => this.#lookAgain(following),
      },
      this.#talk,
      this.#calls,
      this.#tenancy,
      this.#turn,
      this.#releases,
    )
    this.#tasks = new Tasks(
      (error) => context.tell('error', error),
      () => {
        if (!this.#room.isEmpty || this.#occupied) return
        if (!this.#turn.isForgotten(() => this.#tasks.settle())) return
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
    return this.#room.isEmpty && !this.#occupied && this.#tasks.isQuiet
  }

  /** The owner who has the lock in this client, as far as it knows. */
  get holder(): Owner | null {
    return this.#tenancy.hold?.owner ?? null
  }

  /** Whether an acquisition of this owner is under way. */
  isPending(owner: Owner): boolean {
    return this.#room.has(owner)
  }

  /** @returns the lease, or null when it was not to be had in the time given */
  acquire(request: Request): Promise<Lease | null> {
    const waiter = new Waiter(request, this.#site.patience(this.#health), () => {
      this.#room.leave(waiter)
      // Later, for all of them may be about to leave: by one signal, or at close().
      void NOW.then(this.#advanceNext)
    })
    this.#room.enter(waiter)
    const { hold } = this.#tenancy
    if (hold?.owner === request.owner) {
      this.#tasks.run(this.#reenter(hold, waiter))
    } else if (request.fair) {
      this.#tasks.run(this.#queue.stand(waiter), waiter)
    } else if (waiter.asksOnce) {
      this.#tasks.run(this.#race.run(waiter), waiter)
    } else {
      if (this.#room.first !== undefined || this.#occupied) this.#site.announce(waiter)
      // Whoever hears of it may abort.
      if (waiter.settled) return waiter.promise
      this.#room.queue(waiter)
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
      if (hold.count === 0) this.#calls.settle(hold)
      return Promise.resolve(false)
    }
    if (watched) this.#tenancy.unwatch(hold)
    const work = hold.count > 0 ? this.#calls.lower(hold) : this.#succession.end(hold)
    this.#tasks.count(work)
    return work
  }

  extend(hold: Hold, leaseMs: number): Promise<void> {
    return this.#calls.extend(hold, leaseMs)
  }

  /** Somebody used force: if the hold was this client's it is over at once. */
  forced(seen: Seen): void {
    this.#tenancy.forced(seen)
    this.#lookAgain()
  }

  /** Lets nobody wait any more and frees what is held. Resolves when all of it is done. */
  async close(reason: ClosedError): Promise<void> {
    const { hold } = this.#tenancy
    this.#room.rejectAll(reason)
    if (hold !== null) {
      hold.count = 0
      this.#tasks.run(this.#succession.end(hold, reason))
    }
    await this.#tasks.quiet()
  }

  /** The lock is in this client's hands, or passes between them. */
  get #occupied(): boolean {
    return this.#succession.isUnderWay || this.#tenancy.hold !== null
  }

  /** The first in the queue looks after itself; the last to leave stops listening. */
  #advance(): void {
    const first = this.#room.first
    if (first === undefined) {
      this.#releases.close()
      this.#tasks.settle()
    } else if (!first.contending) {
      this.#tasks.run(this.#race.run(first), first)
    }
  }

  /** @param following who has it now, if that is known */
  #lookAgain(following?: Following): void {
    this.#advance()
    this.#room.first?.bell.ring()
    if (following?.own) this.#queue.granted(following.owner, following.token)
    else if (following === undefined && !this.#occupied) this.#fairQueue?.lookAgain()
  }

  /** Those who wait in turn. */
  get #queue(): FairQueue {
    this.#fairQueue ??= new FairQueue(this.#site, this.#tenancy, this.#host)
    return this.#fairQueue
  }

  #granted(waiter: Waiter, hold: Hold): void {
    const { request } = waiter
    this.#tenancy.begin(hold)
    this.#turn.acquired()
    if (waiter.settled) {
      this.#tasks.run(this.release(hold, false))
      return
    }
    this.#tenancy.watch(hold, request)
    // Before listeners hear of it: one of them may abort, and its caller has it already.
    waiter.resolve(hold)
    this.#tenancy.tell(hold, waiter.waitedMs)
    // Whoever hears of it may have released it.
    if (this.#tenancy.hold !== hold) return
    if (!this.#room.isEmpty && this.#room.has(request.owner)) this.#fairQueue?.ring(request.owner)
    for (const other of this.#room.queuedWith(waiter)) {
      if (other.contending) other.bell.ring()
      else this.#tasks.run(this.#reenter(hold, other))
    }
  }

  async #reenter(hold: Hold, waiter: Waiter): Promise<void> {
    this.#room.unqueue(waiter)
    this.#advance()
    hold.count += 1
    hold.untouched = false
    const entered = await this.#talk.reenter(waiter, hold, () => {
      this.#tenancy.watch(hold, waiter.request)
      waiter.resolve(hold)
    })
    if (!entered) await this.release(hold, false)
  }
}
