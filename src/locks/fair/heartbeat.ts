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
 * Places are kept alive this often, in milliseconds. It is a third of the claim window, so that a
 * grant can be proved to be young when it comes, and one whose message was lost is found in time.
 */
const BEAT_MS = CLAIM_MS / 3

/** So many requests are under way at a time: between them Redis answers others. */
const AT_A_TIME = 4

/** What a lock costs in a request beside its places, counted in places. */
const LOCK_COSTS = 10

/**
 * The inbox is listened to for so many beats after the last wait: waits often follow each other, and
 * the server believes for 0.75 s that it is.
 */
const LINGER_BEATS = 3

/** Those of this client who wait for one lock. */
interface LocalQueue {
  readonly rawName: string
  readonly places: Places
  /** A message says that one of them has the lock. */
  granted(owner: string, token: number): void
  /** What a heartbeat sent at that moment was answered for some of them. */
  beaten(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void
}

/** Where the queues are. */
type Server = Pick<LockServer, 'onUp' | 'groups'>

type Due = [LocalQueue, Place[]]

/**
 * Keeps all places of one client in the queues of fair locks: one timer, one channel on which all
 * grants come in, and few requests. What keeps them is that the client is known to be alive. So it
 * tells of the first places in each queue, and of some of the others in turn; where some were missing,
 * of all, one request after the other.
 */
export class Heartbeat {
  readonly #server: Server
  readonly #queues: FairServer
  readonly #clock: Clock
  readonly #lines = new Map<string, LocalQueue>()
  /** Those whose places are being put back. */
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

  /** Grants on that lock are passed on to this line, be there places just now or not. */
  join(line: LocalQueue): void {
    this.#lines.set(line.rawName, line)
  }

  /** Somebody is in a queue: from now on places are kept, and grants are heard of. */
  start(): void {
    this.#idleBeats = 0
    this.#beats ??= this.#clock.every(BEAT_MS, () => this.#tick()).unref()
    // It may be another server, or an emptied one.
    this.#ignoreUps ??= this.#server.onUp(() => {
      const now = this.#clock.now()
      for (const { places } of this.#lines.values()) places.wereMissing(now)
      this.#beat(0)
    })
    this.#inbox ??= this.#queues.listen((grant) => {
      // Without a message some may have been missed.
      if (grant === undefined) this.#beat(0)
      else this.#granted(grant)
    })
  }

  leave(line: LocalQueue): void {
    if (this.#lines.get(line.rawName) === line) this.#lines.delete(line.rawName)
  }

  /** Whether messages of grants are heard, and the server can count who listens for them. */
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

  /** Passes on a grant that nobody here waits for. Should that fail, its claim window ends it. */
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

  /** One of them was granted the lock and cannot prove it: those behind it are to be able to. */
  hurry(line: LocalQueue): void {
    const now = this.#clock.now()
    const places = line.places.firstDue(now, BEAT_MS / 2)
    if (places.length > 0) void this.#send([[line, places]], now)
  }

  /** @param olderMs places that were heard of since are left out, in milliseconds */
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

  /** Sends them one after the other, and once there is no answer all at once: it may be an outage. */
  async #sendAll(chunks: Due[][]): Promise<void> {
    for (let next = chunks.shift(); next !== undefined; next = chunks.shift()) {
      if (await this.#send(next, this.#clock.now())) continue
      for (const rest of chunks.splice(0)) void this.#send(rest, this.#clock.now())
    }
  }

  /** Tells of all places that may be missing, one request after the other. */
  async #restore(line: LocalQueue): Promise<void> {
    if (this.#beingRestored.has(line)) return
    this.#beingRestored.add(line)
    for (;;) {
      const missing = line.places.nextMissing()
      if (missing.length === 0) break
      if (await this.#send([[line, missing]], this.#clock.now())) continue
      // The next beat begins anew.
      line.places.missingAgain()
      break
    }
    this.#beingRestored.delete(line)
  }

  /** @returns whether it was answered for all of them */
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
      // One who asks by itself hears what is wrong; the others see when it is time to give up.
      const [first] = line.places
      for (const { waiter } of line.places) {
        if (waiter === first?.waiter || waiter.retryBudget.isUsedUp) waiter.wakeEvent.set()
      }
    }
    return areAllHeard
  }

  /** @returns what is to be known of each lock; null when there was no answer */
  async #ask(due: readonly Due[], sentAt: Moment): Promise<(HeartbeatAnswer | string)[] | null> {
    const locks = due.map(([{ rawName }, places]) => ({
      rawName,
      // Whoever has left by the time that it is sent, or sent once more, must not be put back.
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
        // Where something is wrong with a lock, that is no proper answer.
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
