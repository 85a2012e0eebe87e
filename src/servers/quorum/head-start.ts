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
 * How long the master that is asked first may take until the others are asked, in milliseconds, at the
 * least: where masters are further away, as long as they usually take.
 */
const HEAD_START_MS = 15

/** Who was refused by the first looks at all of them after this, in milliseconds. */
const LOOK_MS = { least: 100, spread: 200 }

/** Who lost so often in a row to others has many beside it. */
const FEW = 2

/**
 * All ask at a random moment, so that none is always the first; who has just had the lock lets the
 * others go before. In milliseconds.
 */
const COURTESY_MS = { least: 2, most: 8 }

/** Of a lock that others want too: where it was let go since it was last asked for. */
interface Freed {
  readonly masters: Set<Master>
  readonly at: number
}

/** What was let go is free for no longer than this and a few round trips, in milliseconds. */
const FREE_MS = 50

/** How many others seem to want a lock. */
interface Crowd {
  /** How often in a row it was asked for in vain when it had been let go. */
  losses: number
  /** The same for the last times that it was had. */
  before: number
}

/** What comes of asking one master first: its vote, and that it refused. */
interface First {
  readonly master: Master
  readonly vote: Promise<AcquireAnswer>
  readonly held: Held | undefined
}

/**
 * Many who are woken by one release would split the votes if all of them asked all masters. So
 * they ask one master first, and only who gets its vote asks the others. All agree on which that
 * is, as a rule: one that is known to have let the lock go, the least by an order that is the same
 * for all. Nothing depends on it; who does not agree splits the votes as before. It costs the winner
 * a round trip, so that few do without. Measured with `node bench/probes/quorum/contention.mjs`.
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

  /** A release on a majority of the masters is worth a look, and on fewer a moment later. */
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
        // No release is missed while a majority is listened to.
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

  /** This client let it go, and others may have been told. */
  released(votes: Votes<Released, Master>): void {
    for (const { member, answer } of votes) {
      if (!isAnswer(answer) || answer.kind !== 'freed') continue
      if (answer.listeners > 0) this.#isFree(member)
    }
  }

  /** This client got it. */
  won(): void {
    const crowd = this.#crowd
    crowd.before = Math.max(crowd.losses, Math.floor(crowd.before / 2))
    crowd.losses = 0
  }

  /**
   * Asks one master, where others may ask at the same moment.
   *
   * @returns undefined where none is to be asked first
   */
  askFirst(ask: (master: Master) => Promise<AcquireAnswer>): Promise<First> | undefined {
    const master = this.#takeFirst()
    if (master === undefined) return undefined
    const { losses, before } = this.#crowd
    // It is put right when the lock is had.
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

/** Lets others go before for a moment, at random; then asks the one alone, for its head start. */
async function askAlone(
  master: Master,
  { losses, before }: Crowd,
  headStartMs: number,
  ask: (master: Master) => Promise<AcquireAnswer>,
): Promise<First> {
  // The longer it has waited, the sooner it asks.
  const longestMs = Math.max(COURTESY_MS.least, Math.min(before, COURTESY_MS.most) / (1 + losses))
  const courtesyMs = Math.random() * longestMs
  if (courtesyMs >= COURTESY_MS.least / 4) await pause(courtesyMs)
  const vote = ask(master)
  const answer = await soon(vote, headStartMs)
  const held = answer?.kind === 'held' ? { ...answer, ttlMs: lookAfterMs(answer) } : undefined
  return { master, vote, held }
}

/** The one who has it there may have the others as well, or not: that is looked at soon. */
function lookAfterMs({ ttlMs }: Held): number {
  const ms = LOOK_MS.least + Math.random() * LOOK_MS.spread
  return ttlMs < 0 ? ms : Math.min(ms, ttlMs)
}

/** What it resolves to, unless that is late, or a failure. */
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
