import type { Clock, Moment, Timer } from '../../kit/clock.ts'
import { inChunks } from '../../kit/in-chunks.ts'
import type { HeartbeatAnswer } from '../../servers/answers.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import {
  CLAIM_MS,
  type FairGrant,
  type FairServer,
  type RemoteFairLock,
} from '../../servers/fair-server.ts'
import type { LockServer } from '../../servers/lock-server.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { OpenRequest } from '../../waiting/server-health.ts'
import type { Place } from './place.ts'
import { MOST_IN_ONE, type Places } from './places.ts'

/**
 * The interval of heartbeats, in milliseconds: a third of the claim window. So a grant is known to
 * be recent when it arrives, and a lost message is noticed in time.
 */
const BEAT_MS = CLAIM_MS / 3

/** The number of requests in flight at a time. Redis answers other clients between them. */
const AT_A_TIME = 4

/** The cost of a lock in a request apart from its places, counted in places. */
const LOCK_COSTS = 10

/**
 * The inbox stays open for this many beats after the last wait, because waits often follow each
 * other. The server assumes for 0.75 s that it is open.
 */
const LINGER_BEATS = 3

/** The waiters of this client for one lock. */
interface LocalQueue {
  readonly rawName: string
  readonly places: Places
  /** A message reports that one of its places has the lock. */
  granted(owner: string, token: number): void
  /** The answer of a heartbeat, sent at `sentAt`, about some of the places. */
  beaten(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void
}

/** The server that has the queues. */
type Server = Pick<LockServer, 'onUp' | 'groups'>

type Due = [LocalQueue, Place[]]

/**
 * Keeps all places of one client in the queues of fair locks, with one timer, one channel for
 * grants, and few requests. The server keeps the places of a client that is known to be alive. So a
 * heartbeat lists the first places of each queue, and some of the others in turn. If some were
 * missing, it lists all places, one request after the other.
 */
export class Heartbeat {
  readonly #server: Server
  readonly #queues: FairServer
  readonly #clock: Clock
  readonly #lines = new Map<string, LocalQueue>()
  /** The queues whose places are being restored. */
  readonly #beingRestored = new Set<LocalQueue>()
  #beats: Timer | undefined
  #inbox: Subscription | null = null
  #idleBeats = 0
  #ignoreUps: (() => void) | undefined

  constructor(server: Server, queues: FairServer, clock: Clock) {
    this.#server = server
    this.#queues = queues
    this.#clock = clock
  }

  /** Passes grants of this lock to this queue, even while the queue has no places. */
  join(line: LocalQueue): void {
    this.#lines.set(line.rawName, line)
  }

  /** A waiter is in a queue. From now on places are kept, and grants are received. */
  start(): void {
    this.#idleBeats = 0
    this.#beats ??= this.#clock.every(BEAT_MS, () => this.#tick()).unref()
    // The server may be a new one, or may have lost its data.
    this.#ignoreUps ??= this.#server.onUp(() => {
      const now = this.#clock.now()
      for (const { places } of this.#lines.values()) places.wereMissing(now)
      this.#beat(0)
    })
    this.#inbox ??= this.#queues.listen((grant) => {
      // Without a message, the client may have missed some grants.
      if (grant === undefined) this.#beat(0)
      else this.#granted(grant)
    })
  }

  leave(line: LocalQueue): void {
    if (this.#lines.get(line.rawName) === line) this.#lines.delete(line.rawName)
  }

  /** True if grants are received, and the server can count the listeners. */
  get listens(): boolean {
    return this.#inbox?.confirmed === true && this.#queues.countsListeners
  }

  close(): void {
    this.#clock.clear(this.#beats)
    this.#beats = undefined
    this.#ignoreUps?.()
    this.#ignoreUps = undefined
    this.#inbox?.stop()
    this.#inbox = null
  }

  #granted({ rawName, owner, token }: FairGrant): void {
    const line = this.#lines.get(rawName)
    if (line !== undefined) line.granted(owner, token)
    else this.refuse(this.#queues.lock(rawName), owner, token)
  }

  /** Releases a grant that no waiter wants. If that fails, its claim window ends it. */
  refuse(lock: RemoteFairLock, owner: string, token: number): void {
    lock.release(owner, token, CLAIM_MS, {
      answered: (released) => {
        const following = released.kind === 'freed' ? released.following : undefined
        if (following?.own) this.#lines.get(lock.rawName)?.granted(following.owner, following.token)
      },
      failed: () => {},
    })
  }

  #tick(): void {
    let isIdle = true
    for (const { places } of this.#lines.values()) isIdle &&= places.size === 0
    if (!isIdle) this.#idleBeats = 0
    else if (++this.#idleBeats >= LINGER_BEATS) this.close()
    this.#beat(BEAT_MS / 2)
  }

  /** A place cannot prove its grant. This beat lets the places behind it prove theirs. */
  hurry(line: LocalQueue): void {
    const now = this.#clock.now()
    const places = line.places.firstDue(now, BEAT_MS / 2)
    if (places.length > 0) void this.#send([[line, places]], now)
  }

  /** @param olderMs places with an answer within this time are skipped, in milliseconds */
  #beat(olderMs: number): void {
    const now = this.#clock.now()
    const due: Due[] = []
    for (const line of this.#lines.values()) {
      const { places } = line
      for (const some of [places.firstDue(now, olderMs), places.othersDue(now, olderMs)]) {
        if (some.length > 0) due.push([line, some])
        for (const place of some) place.beats()
      }
      if (places.mayBeMissing) void this.#restore(line)
    }
    if (due.length === 0) return
    for (const indices of this.#server.groups(due.map(([{ rawName }]) => ({ key: rawName })))) {
      const all = inChunks(
        indices.map((i) => due[i] as Due),
        ([, places]) => places.length + LOCK_COSTS,
        MOST_IN_ONE + LOCK_COSTS,
      )
      for (let n = 0; n < AT_A_TIME; n++) void this.#sendAll(all)
    }
  }

  /** Sends one request after the other; after a missing answer, the rest at once. */
  async #sendAll(chunks: Due[][]): Promise<void> {
    for (let next = chunks.shift(); next !== undefined; next = chunks.shift()) {
      if (await this.#send(next, this.#clock.now())) continue
      for (const rest of chunks.splice(0)) void this.#send(rest, this.#clock.now())
    }
  }

  /** Lists all places that may be missing, one request after the other. */
  async #restore(line: LocalQueue): Promise<void> {
    if (this.#beingRestored.has(line)) return
    this.#beingRestored.add(line)
    for (;;) {
      const missing = line.places.nextMissing()
      if (missing.length === 0) break
      if (await this.#send([[line, missing]], this.#clock.now())) continue
      // The next beat starts from the beginning.
      line.places.missingAgain()
      break
    }
    this.#beingRestored.delete(line)
  }

  /** @returns true if the server answered about all of them */
  async #send(due: readonly Due[], sentAt: Moment): Promise<boolean> {
    for (const [, places] of due) for (const place of places) place.beats()
    const heard = await this.#ask(due, sentAt)
    let areAllHeard = true
    for (const [i, [line, places]] of due.entries()) {
      const beat = heard?.[i]
      for (const place of places) place.beating = false
      if (typeof beat === 'object') {
        line.beaten(places, beat, sentAt)
        if (beat.missing > 0 && !this.#beingRestored.has(line)) {
          line.places.wereMissing(sentAt)
          void this.#restore(line)
        }
        continue
      }
      areAllHeard = false
      // The first waiter asks, and learns what is wrong. The others wake up only to give up.
      const [first] = line.places
      for (const { waiter } of line.places) {
        if (waiter === first?.waiter || waiter.retryBudget.isUsedUp) waiter.wakeEvent.set()
      }
    }
    return areAllHeard
  }

  /** @returns the answer about each lock; null if there was no answer */
  async #ask(due: readonly Due[], sentAt: Moment): Promise<(HeartbeatAnswer | string)[] | null> {
    const locks = due.map(([{ rawName }, places]) => ({
      rawName,
      // A waiter that left before the request is sent, or sent again, must not be restored.
      places: () => places.filter((place) => place.inLine),
    }))
    const healths = due.map(
      ([, places]) => new Set(places.map((place) => place.waiter.retryBudget.health)),
    )
    const open = healths.flatMap((some) =>
      [...some].map((health) => health.sent(new OpenRequest(sentAt))),
    )
    try {
      const beats = await this.#queues.beat(locks, () => this.listens, CLAIM_MS)
      for (const [i, some] of healths.entries()) {
        // An error about a lock is not a proper answer.
        if (typeof beats[i] === 'object') for (const health of some) health.answered()
      }
      return beats
    } catch (failure) {
      for (const health of healths.flatMap((some) => [...some])) {
        health.failed(failure as CallFailure, sentAt.monotonic)
      }
      return null
    } finally {
      for (const request of open) request.close()
    }
  }
}
