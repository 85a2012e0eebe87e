import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../kit/within.ts'
import type { AcquireAnswer, Held, Released } from '../answers.ts'
import { type Hint, MISSED } from '../hint.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { Subscription } from '../subscription.ts'
import { isAnswer, type Majority, type Votes } from './majority.ts'
import { MajorityWakeUp } from './majority-wake-up.ts'
import type { Voter } from './master/voter.ts'
import type { RoundTrips } from './round-trips.ts'

/**
 * For how long the client waits for the first master before it asks the others, in milliseconds.
 * The client waits longer if a majority usually needs longer to answer.
 */
const HEAD_START_MS = 15

/**
 * If the first master refuses, the client asks again after a random time, in milliseconds: `least`
 * to `least + spread`. The client asks sooner if the lease ends sooner.
 */
const LOOK_MS = { least: 100, spread: 200 }

/**
 * If `losses + before` of the `Crowd` reaches this number, many clients seem to compete. After a
 * release, the client then asks one master first.
 */
const MANY_FROM = 2

/**
 * The client pauses for a random time before it asks the first master, so that no client is always
 * first. The limit of this pause is between `least` and `most`, in milliseconds.
 */
const COURTESY_MS = { least: 2, most: 8 }

/**
 * The masters on which the lock was released recently. The client forgets them when it requests the
 * lock.
 */
interface Freed {
  readonly masters: Set<Voter>
  /** When the client learned of the last release, on `performance.now()`. */
  readonly at: number
}

/**
 * After a release, the lock counts as free for this many milliseconds plus two response times of a
 * majority.
 */
const FREE_MS = 50

/** How many other clients seem to compete for a lock. */
interface Crowd {
  /**
   * How often this client asked for the lock right after a release, since it last acquired the
   * lock.
   */
  losses: number
  /**
   * The losses before the last acquisition, but at least half of the previous value of `before`.
   */
  before: number
}

/** The vote of the master that the client asked first. */
export interface First {
  readonly master: Voter
  readonly vote: Promise<AcquireAnswer>
  /**
   * The refusal of the master. Undefined if the master granted the lock, failed, or did not answer
   * in time.
   */
  readonly held: Held | undefined
}

/**
 * Asks one master before the others. A client that this master refuses does not ask the others. So
 * clients that a release wakes at the same time do not split the votes. If few clients compete, the
 * client asks all masters at once, which saves a round trip.
 *
 * All clients sort the masters in the same order, so they usually ask the same master first.
 * `node bench/probes/quorum/contention.mjs` measures the effect.
 */
export class HeadStart {
  readonly #masters: readonly Voter[]
  readonly #size: Majority
  readonly #roundTrips: RoundTrips
  readonly #keys: LockKeys
  #freed: Freed | undefined
  readonly #crowd: Crowd = { losses: 0, before: 0 }

  constructor(masters: readonly Voter[], size: Majority, roundTrips: RoundTrips, keys: LockKeys) {
    this.#masters = masters
    this.#size = size
    this.#roundTrips = roundTrips
    this.#keys = keys
  }

  /**
   * Calls `onHint` when the lock is released on a majority of masters, or on the master that this
   * client will ask first. After a release on fewer masters, calls `onHint` a moment later. Until
   * enough subscriptions are confirmed, a message that may have been missed counts as a release.
   */
  listen(onHint: (hint: Hint) => void): Subscription {
    const { majority } = this.#size
    let hint: Hint = MISSED
    const releases = new MajorityWakeUp(
      majority,
      () => this.#roundTrips.majorityMs,
      () => {
        const known = hint
        hint = MISSED
        onHint(known)
      },
    )
    const confirmed = () => all.filter((one) => one.confirmed).length
    const byRank = this.#ranked(this.#masters)
    const all = this.#masters.map((master) =>
      master.listen(this.#keys, (one) => {
        const isRelease = one.kind === 'released'
        if (isRelease) this.#noteFreed(master)
        // The client may have missed messages of this master. With more than a majority of
        // confirmed subscriptions, the waiter still learns of each release.
        else if (confirmed() > majority) return
        if (isRelease) hint = one
        releases.wokenBy(master, isRelease && master === this.#firstOf(byRank))
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
   * Called when this client has released the lock. On masters where other clients may wait, the
   * lock then counts as free.
   */
  released(votes: Votes<Released, Voter>): void {
    for (const { member, answer } of votes) {
      if (!isAnswer(answer) || answer.kind !== 'freed') continue
      if (answer.others !== 0) this.#noteFreed(member)
    }
  }

  /** Records that this client has acquired the lock: computes `before`, and sets `losses` to 0. */
  won(): void {
    const crowd = this.#crowd
    crowd.before = Math.max(crowd.losses, Math.floor(crowd.before / 2))
    crowd.losses = 0
  }

  /**
   * Asks one master alone, if the lock was just released and many clients compete for it.
   *
   * @returns the vote of this master; undefined if the client may ask all masters at once
   */
  requestFirst(request: (master: Voter) => Promise<AcquireAnswer>): Promise<First> | undefined {
    const master = this.#takeFirst()
    if (master === undefined) return undefined
    const { losses, before } = this.#crowd
    // The request counts as a loss until `won()` is called.
    this.#crowd.losses += 1
    if (losses + before < MANY_FROM) return undefined
    const headStartMs = Math.max(HEAD_START_MS, this.#roundTrips.majorityMs)
    return requestAlone(master, { losses, before }, headStartMs, request)
  }

  #noteFreed(master: Voter): void {
    const masters = this.#freedMasters ?? new Set()
    masters.add(master)
    this.#freed = { masters, at: performance.now() }
  }

  get #freedMasters(): Set<Voter> | undefined {
    const freed = this.#freed
    const freeMs = FREE_MS + 2 * this.#roundTrips.majorityMs
    return freed !== undefined && performance.now() - freed.at < freeMs ? freed.masters : undefined
  }

  #firstOf(byRank: readonly Voter[]): Voter | undefined {
    return byRank.find((one) => one.server.whyDown === undefined && !this.#isSlow(one))
  }

  #isSlow(master: Voter): boolean {
    return this.#roundTrips.isSlow(master, HEAD_START_MS)
  }

  #takeFirst(): Voter | undefined {
    const free = this.#freedMasters
    this.#freed = undefined
    return free && this.#ranked([...free].filter((one) => !this.#isSlow(one)))[0]
  }

  #ranked(some: readonly Voter[]): Voter[] {
    return [...some].sort((a, b) => a.rank(this.#keys) - b.rank(this.#keys))
  }
}

/**
 * Pauses for a random time, then asks this master. Waits for the answer for at most `headStartMs`.
 */
async function requestAlone(
  master: Voter,
  { losses, before }: Crowd,
  headStartMs: number,
  request: (master: Voter) => Promise<AcquireAnswer>,
): Promise<First> {
  // A client that has lost more often asks sooner.
  const longestMs = Math.max(COURTESY_MS.least, Math.min(before, COURTESY_MS.most) / (1 + losses))
  const courtesyMs = Math.random() * longestMs
  if (courtesyMs >= COURTESY_MS.least / 4) await pause(courtesyMs)
  const vote = request(master)
  const answer = await soon(vote, headStartMs)
  const held = answer?.kind === 'held' ? { ...answer, ttlMs: checkAfterMs(answer) } : undefined
  return { master, vote, held }
}

/**
 * Returns how long the client waits before it asks again, in milliseconds. The wait is short,
 * because the holder on this master may lack a majority.
 */
function checkAfterMs({ ttlMs }: Held): number {
  const ms = LOOK_MS.least + Math.random() * LOOK_MS.spread
  return Math.min(ms, ttlMs)
}

/** Returns the result of the work; undefined if the work fails, or takes longer than `ms`. */
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
