import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { Owner } from '../owner/owner.ts'
import { lockKeys } from '../redis/keys.ts'
import type { Context } from './context.ts'
import { Conversation } from './conversation.ts'
import { Health } from './health.ts'
import { ReleaseListener } from './release-listener.ts'
import { Tasks } from './tasks.ts'
import { Tenancy } from './tenancy.ts'
import { Turn } from './turn.ts'
import { type Request, Waiter } from './waiter.ts'
import { WaitingRoom } from './waiting-room.ts'

/**
 * One client at one lock: however many wait here, only the first of them talks to Redis. When the
 * lock is released with somebody waiting, it is handed over in one step.
 */
export class Contender {
  readonly #context: Context
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly #talk: Conversation
  readonly #tenancy: Tenancy
  readonly #releases: ReleaseListener
  readonly #tasks: Tasks
  readonly #room = new WaitingRoom()
  readonly #turn = new Turn()
  readonly #health = new Health()
  #handingOver = false

  constructor(name: string, rawName: string, context: Context, onIdle: () => void) {
    this.name = name
    this.#context = context
    const keys = lockKeys(rawName)
    this.#talk = new Conversation(name, keys, context)
    this.#tenancy = new Tenancy(name, context, this.#talk, () => this.#lookAgain())
    this.#releases = new ReleaseListener(context.node, keys, () => this.#room.first?.bell.ring())
    this.#tasks = new Tasks(
      (error) => context.tell('error', error),
      () => {
        if (!this.#room.isEmpty || this.#occupied) return
        if (this.#turn.isForgotten(() => this.#tasks.settle())) onIdle()
      },
    )
  }

  /** The owner who has the lock in this client, as far as it knows. */
  get holder(): Owner | null {
    return this.#tenancy.hold?.owner ?? null
  }

  /** Whether an acquisition of this owner is under way. */
  isPending(owner: Owner): boolean {
    return this.#room.has(owner)
  }

  /** @returns the hold, or null when it was not to be had in the time given */
  acquire(request: Request): Promise<Hold | null> {
    const waiter = new Waiter(request, this.#talk.patience(this.#health), () => {
      this.#room.leave(waiter)
      // Later, for all of them may be about to leave: by one signal, or at close().
      queueMicrotask(() => this.#advance())
    })
    this.#room.enter(waiter)
    const { hold } = this.#tenancy
    if (hold?.owner === request.owner) {
      this.#tasks.run(this.#reenter(hold, waiter))
    } else if (request.waitMs === 0) {
      this.#tasks.run(this.#contend(waiter))
    } else {
      if (this.#room.first !== undefined || this.#occupied) this.#announce(waiter)
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
      if (hold.count === 0) this.#talk.settle(hold)
      return Promise.resolve(false)
    }
    if (watched) this.#tenancy.unwatch(hold)
    const work = hold.count > 0 ? this.#talk.lower(hold) : this.#end(hold)
    this.#tasks.count(work)
    return work
  }

  extend(hold: Hold, leaseMs: number): Promise<void> {
    return this.#talk.extend(hold, leaseMs)
  }

  /** Somebody used force: a hold of this client is over at once. */
  forced(): void {
    this.#tenancy.hold?.lose('forced', 'forceUnlock() took it away')
    this.#lookAgain()
  }

  /** Lets nobody wait any more and frees what is held. Resolves when all of it is done. */
  async close(reason: ClosedError): Promise<void> {
    const { hold } = this.#tenancy
    this.#room.rejectAll(reason)
    if (hold !== null) {
      hold.count = 0
      this.#tasks.run(this.#end(hold, reason))
    }
    await this.#tasks.quiet()
  }

  /** The lock is in this client's hands, or passes between them. */
  get #occupied(): boolean {
    return this.#handingOver || this.#tenancy.hold !== null
  }

  /** The first in the queue looks after itself; the last to leave stops listening. */
  #advance(): void {
    const first = this.#room.first
    if (first === undefined) {
      this.#releases.close()
      this.#tasks.settle()
    } else if (!first.contending) {
      this.#tasks.run(this.#contend(first))
    }
  }

  #lookAgain(): void {
    this.#advance()
    this.#room.first?.bell.ring()
  }

  #announce(waiter: Waiter): void {
    if (waiter.announced) return
    waiter.announced = true
    this.#context.tell('wait', { name: this.name })
  }

  async #contend(waiter: Waiter): Promise<void> {
    waiter.contending = true
    const { request, bell } = waiter
    while (!waiter.settled) {
      bell.still()
      const { hold: own } = this.#tenancy
      if (own?.owner === request.owner) return this.#reenter(own, waiter)
      if (this.#occupied && request.waitMs > 0) {
        await bell.wait()
        continue
      }
      if (request.waitMs > 0 && this.#turn.isPolite) {
        await this.#turn.stepBack()
        if (waiter.settled || this.#occupied) continue
      }
      if (waiter.patience.over) {
        waiter.reject(waiter.patience.error('not acquired'))
        break
      }
      const { grant, sentAt, pauseMs } = await this.#talk.acquire(waiter)
      if (grant?.kind === 'granted') {
        const hold = this.#tenancy.granted(waiter, grant.token, sentAt)
        if (hold !== null) return this.#granted(waiter, hold)
      } else if (grant !== null && request.waitMs === 0) {
        if (this.holder !== request.owner) waiter.resolve(null)
      } else if (!waiter.settled) {
        if (grant !== null) this.#announce(waiter)
        await bell.wait(grant?.kind === 'held' ? this.#releases.listen(grant.ttlMs) : pauseMs)
      }
    }
    // While the lock is on its way to it, it has use for its name.
    if (!waiter.asking) this.#talk.settleUnheard(waiter)
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
    this.#tenancy.tell(hold, waiter.waitedMs)
    for (const other of this.#room.queuedWith(waiter)) {
      if (other.contending) other.bell.ring()
      else this.#tasks.run(this.#reenter(hold, other))
    }
    waiter.resolve(hold)
  }

  async #reenter(hold: Hold, waiter: Waiter): Promise<void> {
    this.#room.unqueue(waiter)
    this.#advance()
    hold.count += 1
    const entered = await this.#talk.reenter(waiter, hold, () => {
      this.#tenancy.watch(hold, waiter.request)
      waiter.resolve(hold)
    })
    if (!entered) await this.release(hold, false)
  }

  #end(hold: Hold, reason?: ClosedError): Promise<boolean> {
    this.#tenancy.end(hold, reason)
    const next = reason === undefined ? this.#room.first : undefined
    // Whoever is not waiting just now is about to ask by itself.
    return next?.bell.isWaitedFor ? this.#handOver(hold, next) : this.#free(hold, false)
  }

  async #handOver(hold: Hold, next: Waiter): Promise<boolean> {
    const listening = this.#turn.over ? this.#releases.listeners : null
    this.#handingOver = true
    const { grant, sentAt, unknown } = await this.#talk.handOver(hold, next, listening)
    this.#handingOver = false
    // Nothing is lost by going on one by one: the release and the acquisition are both safe to
    // repeat, and find out how far the hand-over came.
    if (grant === null) {
      if (next.settled) this.#talk.settleUnheard(next)
      next.bell.ring()
      return this.#free(hold, unknown)
    }
    this.#turn.released(grant.kind === 'yielded' ? grant.others : 0)
    const wasHeld = this.#tenancy.left(hold, grant.kind !== 'gone')
    if (grant.kind === 'granted') {
      const following = this.#tenancy.granted(next, grant.token, sentAt)
      if (following !== null) this.#granted(next, following)
    }
    if (next.settled) this.#talk.settleUnheard(next)
    this.#lookAgain()
    return wasHeld
  }

  async #free(hold: Hold, mayBeDone: boolean): Promise<boolean> {
    try {
      const told = await this.#talk.free(hold, mayBeDone)
      this.#turn.released((told ?? 0) - this.#releases.listeners)
      return this.#tenancy.left(hold, told !== null)
    } finally {
      this.#lookAgain()
    }
  }
}
