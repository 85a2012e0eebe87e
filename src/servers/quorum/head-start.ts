import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../kit/within.ts'
import type { AcquireAnswer, Held, Released } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { Subscription } from '../subscription.ts'
import { isAnswer, type Majority, type Votes } from './majority.ts'
import { MajorityWakeUp } from './majority-wake-up.ts'
import type { Master } from './master.ts'
import type { RoundTrips } from './round-trips.ts'

/**
 * How long the first master may take before the client asks the others, in milliseconds. If a
 * majority usually needs longer to answer, that time is used.
 */
const HEAD_START_MS = 15

/** A client that the first master refused checks all masters after this time, in milliseconds. */
const LOOK_MS = { least: 100, spread: 200 }

/** A client that lost this often in a row has many competitors. */
const FEW = 2

/**
 * The longest random pause before a client asks, in milliseconds, so that no client is always
 * first. A client that has just held the lock pauses longer.
 */
const COURTESY_MS = { least: 2, most: 8 }

/** The masters that released a contended lock since the last request for it, and when. */
interface Freed {
  readonly masters: Set<Master>
  readonly at: number
}

/** A released lock stays free for this time and two round trips at most, in milliseconds. */
const FREE_MS = 50

/** How many other clients seem to compete for a lock. */
interface Crowd {
  /** How many requests in a row failed although the lock had been released. */
  losses: number
  /**
   * The number of losses before the last successful requests. Each success with fewer losses halves
   * it.
   */
  before: number
}

/** The master that was asked first, and its vote. If the master refused, also the refusal. */
interface First {
  readonly master: Master
  readonly vote: Promise<AcquireAnswer>
  readonly held: Held | undefined
}

/**
 * All waiters that one release wakes would split the votes if they asked all masters. So they ask
 * one master first, and only the waiter with that vote asks the others. Usually all choose the same
 * master: the first that has released the lock, in an order that all clients share. If some choose
 * another master, the votes may be split, as without a head start. The head start costs the winner
 * a round trip, so clients with few competitors do not use it. Measured with `node
 * bench/probes/quorum/contention.mjs`.
 */
export class HeadStart {
  readonly #masters: readonly Master[]
  readonly #size: Majority
  readonly #roundTrips: RoundTrips
  readonly #keys: LockKeys
  #freed: Freed | undefined
  readonly #crowd: Crowd = { losses: 0, before: 0 }

  constructor(masters: readonly Master[], size: Majority, roundTrips: RoundTrips, keys: LockKeys) {
    this.#masters = masters
    this.#size = size
    this.#roundTrips = roundTrips
    this.#keys = keys
  }

  /** Wakes after a release on a majority of masters, or a moment after a release on fewer. */
  listen(onWake: (message?: string) => void): Subscription {
    const { majority } = this.#size
    let message: string | undefined
    const releases = new MajorityWakeUp(
      majority,
      () => this.#roundTrips.majorityMs,
      () => {
        const told = message
        message = undefined
        onWake(told)
      },
    )
    const confirmed = () => all.filter((one) => one.confirmed).length
    const byRank = this.#ranked(this.#masters)
    const all = this.#masters.map((master) =>
      master.listen(this.#keys, (one) => {
        if (one !== undefined) this.#isFree(master)
        // If more than a majority has confirmed subscriptions, no release is missed. So the waiter
        // stays asleep.
        else if (confirmed() > majority) return
        message ??= one
        releases.told(master, one !== undefined && master === this.#firstOf(byRank))
      }),
    )
    return {
      get confirmed() {
        return confirmed() >= majority
      },
      stop: () => {
        releases.stop()
        for (const one of all) one.stop()
      },
    }
  }

  /**
   * Called when this client has released the lock, which may have woken waiters of other clients.
   */
  released(votes: Votes<Released, Master>): void {
    for (const { member, answer } of votes) {
      if (!isAnswer(answer) || answer.kind !== 'freed') continue
      if (answer.listeners > 0) this.#isFree(member)
    }
  }

  /** Called when this client has acquired the lock. */
  won(): void {
    const crowd = this.#crowd
    crowd.before = Math.max(crowd.losses, Math.floor(crowd.before / 2))
    crowd.losses = 0
  }

  /**
   * Asks one master alone, if other clients may ask at the same time.
   *
   * @returns undefined if the client may ask all masters at once
   */
  askFirst(ask: (master: Master) => Promise<AcquireAnswer>): Promise<First> | undefined {
    const master = this.#takeFirst()
    if (master === undefined) return undefined
    const { losses, before } = this.#crowd
    // `won()` resets this if the lock is acquired.
    this.#crowd.losses += 1
    if (losses + before < FEW) return undefined
    const headStartMs = Math.max(HEAD_START_MS, this.#roundTrips.majorityMs)
    return askAlone(master, { losses, before }, headStartMs, ask)
  }

  #isFree(master: Master): void {
    const masters = this.#freedMasters ?? new Set()
    masters.add(master)
    this.#freed = { masters, at: performance.now() }
  }

  get #freedMasters(): Set<Master> | undefined {
    const freed = this.#freed
    const freeMs = FREE_MS + 2 * this.#roundTrips.majorityMs
    return freed !== undefined && performance.now() - freed.at < freeMs ? freed.masters : undefined
  }

  #firstOf(byRank: readonly Master[]): Master | undefined {
    return byRank.find((one) => one.server.whyDown === undefined && !this.#isSlow(one))
  }

  #isSlow(master: Master): boolean {
    return this.#roundTrips.isSlow(master, HEAD_START_MS)
  }

  #takeFirst(): Master | undefined {
    const free = this.#freedMasters
    this.#freed = undefined
    return free && this.#ranked([...free].filter((one) => !this.#isSlow(one)))[0]
  }

  #ranked(some: readonly Master[]): Master[] {
    return [...some].sort((a, b) => a.rank(this.#keys) - b.rank(this.#keys))
  }
}

/** Pauses for a random moment, then asks this master alone for the head start. */
async function askAlone(
  master: Master,
  { losses, before }: Crowd,
  headStartMs: number,
  ask: (master: Master) => Promise<AcquireAnswer>,
): Promise<First> {
  // A client that has lost more often asks sooner.
  const longestMs = Math.max(COURTESY_MS.least, Math.min(before, COURTESY_MS.most) / (1 + losses))
  const courtesyMs = Math.random() * longestMs
  if (courtesyMs >= COURTESY_MS.least / 4) await pause(courtesyMs)
  const vote = ask(master)
  const answer = await soon(vote, headStartMs)
  const held = answer?.kind === 'held' ? { ...answer, ttlMs: lookAfterMs(answer) } : undefined
  return { master, vote, held }
}

/** The holder on this master may have no majority, so the next check is soon. */
function lookAfterMs({ ttlMs }: Held): number {
  const ms = LOOK_MS.least + Math.random() * LOOK_MS.spread
  return ttlMs < 0 ? ms : Math.min(ms, ttlMs)
}

/** The result of the work; undefined if it is late or a failure. */
async function soon<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let answer: T | undefined
  const coming = work.then(
    (come) => {
      answer = come
    },
    () => {},
  )
  await within(ms, coming)
  return answer
}
