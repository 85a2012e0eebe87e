import type { Clock, Moment, Timer } from '../../kit/clock.ts'
import { inChunks } from '../../kit/in-chunks.ts'
import type { HeartbeatAnswer } from '../../servers/answers.ts'
import {
  CLAIM_MS,
  type FairGrant,
  type FairServer,
  type RemoteFairLock,
} from '../../servers/fair-server.ts'
import type { LockServer } from '../../servers/lock-server.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { sendHeartbeat } from './heartbeat-request.ts'
import type { OwnGrant, Place } from './place.ts'
import { MOST_IN_ONE, type Places } from './places.ts'

/**
 * The interval of heartbeats, in milliseconds: a third of the claim window. So the last answer is usually recent enough
 * for a waiter to use a grant without a request. If the message of a grant was lost, a heartbeat usually finds the
 * grant in time.
 */
const BEAT_MS = CLAIM_MS / 3

/** A client usually has at most this many heartbeats in flight for the locks of one server and slot. */
const AT_A_TIME = 4

/** The cost of one lock in a heartbeat, in units of the cost of one place. */
const LOCK_COSTS = 10

/**
 * After the last wait, the subscription to grants stays open for about this many intervals of heartbeats, because
 * another wait often follows. Also, the server relies on a subscription for up to 0.75 s after a check.
 */
const LINGER_BEATS = 3

interface LocalQueue {
  readonly rawName: string
  readonly places: Places
  /** Called when a message or an answer reports that an owner of this client has the lock. */
  onGrant(grant: OwnGrant): void
  /** Called with the answer to a heartbeat that listed the places `asked`. */
  onHeartbeatAnswer(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void
}

type QueueServer = Pick<LockServer, 'onUp' | 'groups'>

type Due = readonly [queue: LocalQueue, places: readonly Place[]]

/**
 * Keeps all places of one client in the queues of fair locks, with one timer and one subscription to grants. The server
 * keeps all places of a client that sends heartbeats. So a heartbeat lists only some places: the first of each queue,
 * and a part of the others. If the server has lost a listed place, the client soon lists all its places in this queue.
 */
export class Heartbeat {
  readonly #server: QueueServer
  readonly #fairServer: FairServer
  readonly #clock: Clock
  readonly #queues = new Map<string, LocalQueue>()
  readonly #beingRestored = new Set<LocalQueue>()
  #beats: Timer | undefined
  #inbox: Subscription | null = null
  #idleBeats = 0
  #ignoreUps: (() => void) | undefined

  constructor(server: QueueServer, fairServer: FairServer, clock: Clock) {
    this.#server = server
    this.#fairServer = fairServer
    this.#clock = clock
  }

  /** Adds the queue of a lock. From now on, the queue receives its grants. The queue may have no places yet. */
  join(queue: LocalQueue): void {
    this.#queues.set(queue.rawName, queue)
  }

  /** Starts the heartbeats and the subscription to grants, unless they run already. */
  start(): void {
    this.#idleBeats = 0
    this.#beats ??= this.#clock.every(BEAT_MS, () => this.#tick()).unref()
    // After a reconnection, the server may have lost data. So all places are listed again.
    this.#ignoreUps ??= this.#server.onUp(() => {
      const now = this.#clock.now()
      for (const { places } of this.#queues.values()) places.mayBeMissingSince(now)
      this.#beat(0)
    })
    this.#inbox ??= this.#fairServer.listen((grant) => {
      // If `grant` is undefined, messages may have been lost. A heartbeat then finds the lost grants.
      if (grant === undefined) this.#beat(0)
      else this.#onGrant(grant)
    })
  }

  remove(queue: LocalQueue): void {
    if (this.#queues.get(queue.rawName) === queue) this.#queues.delete(queue.rawName)
  }

  /** True if the subscription to grants is confirmed. */
  get listens(): boolean {
    return this.#inbox?.confirmed === true
  }

  stop(): void {
    this.#clock.clear(this.#beats)
    this.#beats = undefined
    this.#ignoreUps?.()
    this.#ignoreUps = undefined
    this.#inbox?.stop()
    this.#inbox = null
  }

  #onGrant(grant: FairGrant): void {
    const { rawName, owner, token } = grant
    const queue = this.#queues.get(rawName)
    if (queue !== undefined) queue.onGrant(grant)
    else this.refuse(this.#fairServer.lock(rawName), owner, token)
  }

  /**
   * Releases a grant that no waiter wants, and passes on the next grant in the answer. Without an
   * answer, the claim window ends the grant.
   */
  refuse(lock: RemoteFairLock, owner: string, token: number): void {
    const ending = { owner, holds: 0, token, callMs: CLAIM_MS }
    lock.endHold(ending, {
      answered: (released) => {
        const following = released.kind === 'freed' ? released.following : undefined
        if (following?.own) this.#queues.get(lock.rawName)?.onGrant(following)
      },
      failed: () => {},
    })
  }

  #tick(): void {
    let isIdle = true
    for (const { places } of this.#queues.values()) isIdle &&= places.size === 0
    if (!isIdle) this.#idleBeats = 0
    else if (++this.#idleBeats >= LINGER_BEATS) this.stop()
    this.#beat(BEAT_MS / 2)
  }

  /** Sends a heartbeat for the first due places, so that their waiters can use the next grants without a request. */
  hurry(queue: LocalQueue): void {
    const now = this.#clock.now()
    const places = queue.places.firstDue(now, BEAT_MS / 2)
    if (places.length > 0) void this.#send([[queue, places]], now)
  }

  /** Sends heartbeats with due places, and with places that may be missing. {@link Place.isDue} explains `olderMs`. */
  #beat(olderMs: number): void {
    const now = this.#clock.now()
    const due: Due[] = []
    for (const queue of this.#queues.values()) {
      const { places } = queue
      for (const some of [places.firstDue(now, olderMs), places.othersDue(now, olderMs)]) {
        if (some.length > 0) due.push([queue, some])
        for (const place of some) place.listedNow()
      }
      if (places.mayBeMissing) void this.#restore(queue)
    }
    if (due.length === 0) return
    for (const indices of this.#server.groups(due.map(([queue]) => queue))) {
      const all = inChunks(
        indices.map((i) => due[i] as Due),
        ([, places]) => places.length + LOCK_COSTS,
        MOST_IN_ONE + LOCK_COSTS,
      )
      for (let n = 0; n < AT_A_TIME; n++) void this.#sendAll(all)
    }
  }

  /** Sends one request after another. If a request fails, sends all remaining requests at once. */
  async #sendAll(chunks: Due[][]): Promise<void> {
    for (let next = chunks.shift(); next !== undefined; next = chunks.shift()) {
      if (await this.#send(next, this.#clock.now())) continue
      for (const rest of chunks.splice(0)) void this.#send(rest, this.#clock.now())
    }
  }

  /** Lists all places that the server may have lost, one request after another. */
  async #restore(queue: LocalQueue): Promise<void> {
    if (this.#beingRestored.has(queue)) return
    this.#beingRestored.add(queue)
    for (;;) {
      const missing = queue.places.nextMissing()
      if (missing.length === 0) break
      if (await this.#send([[queue, missing]], this.#clock.now())) continue
      // The next heartbeat begins again with the first place.
      queue.places.missingAgain()
      break
    }
    this.#beingRestored.delete(queue)
  }

  /** @returns true if the server answered for all listed locks */
  async #send(due: readonly Due[], sentAt: Moment): Promise<boolean> {
    for (const [, places] of due) for (const place of places) place.listedNow()
    const answers = await sendHeartbeat(this.#fairServer, due, () => this.listens, sentAt)
    let areAllAnswered = true
    for (const [i, [queue, places]] of due.entries()) {
      const beat = answers?.[i]
      for (const place of places) place.isListed = false
      if (typeof beat === 'object') {
        queue.onHeartbeatAnswer(places, beat, sentAt)
        if (beat.missing > 0 && !this.#beingRestored.has(queue)) {
          queue.places.mayBeMissingSince(sentAt)
          void this.#restore(queue)
        }
        continue
      }
      areAllAnswered = false
      // Wakes the first waiter, because its own request finds the error. Wakes another waiter only
      // when its retry budget is used up, so that the waiter gives up.
      const [first] = queue.places
      for (const { waiter } of queue.places) {
        if (waiter === first?.waiter || waiter.retryBudget.isUsedUp) waiter.wakeEvent.set()
      }
    }
    return areAllAnswered
  }
}
