import type {
  AcquireAnswer,
  HandOverAnswer,
  HolderFacts,
  LockFacts,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import type { Hint } from '../hint.ts'
import type { RemoteLock } from '../lock-server.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { type Reply, replyWith } from '../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { forceReleaseOnMost, seenByMost } from './force-release.ts'
import { HeadStart } from './head-start.ts'
import { readFromMost } from './inspect.ts'
import {
  answersOf,
  count,
  failuresOf,
  isGranted,
  isMisused,
  isMixed,
  isSplit,
  type RequestedMasters,
} from './majority.ts'
import type { Master } from './master.ts'
import type { Repairs } from './repairs.ts'
import { requestAll } from './request-all.ts'
import type { RoundTrips } from './round-trips.ts'
import { SplitVotes } from './split-votes.ts'
import type { TokenAgreement } from './token-agreement.ts'

/** The parts of a quorum that all its locks share. */
interface LockMasters extends RequestedMasters<Master> {
  readonly agreement: TokenAgreement
  readonly roundTrips: RoundTrips
  readonly repairs: Repairs
  /** Returns the time limit of one request, in milliseconds, if the call may take `longestMs`. */
  callMs(longestMs: number): number
}

/**
 * After a lease has expired, its holder has this time to stop, in milliseconds. Then the client
 * releases the hold on the masters.
 */
const RAN_OUT_MS = 100

/** One lock on several masters. The votes of a majority decide. */
export class QuorumLock implements RemoteLock {
  readonly #all: LockMasters
  readonly #keys: LockKeys
  readonly #splitVotes: SplitVotes
  readonly #headStart: HeadStart

  constructor(all: LockMasters, keys: LockKeys) {
    this.#all = all
    this.#keys = keys
    this.#splitVotes = new SplitVotes(all.size)
    this.#headStart = new HeadStart(all.masters, all.size, all.roundTrips, keys)
  }

  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    replyWith(this.#acquire(attempt), reply)
  }

  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    replyWith(this.#reenter(reentry), reply)
  }

  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void {
    replyWith(this.#handOver(passing), reply)
  }

  lower(ending: LoweredHold, reply: Reply<Released>): void {
    replyWith(this.#lower(ending), reply)
  }

  /** Ignores the caller's times: each `Master` knows until when its requests may still run. */
  abandon(owner: string): void {
    this.#all.agreement.abandon(this.#keys, owner)
  }

  ranOut(owner: string): void {
    this.#all.agreement.abandon(this.#keys, owner, performance.now() + RAN_OUT_MS)
  }

  seen(callMs: number): Promise<SeenHold | null> {
    return seenByMost(this.#all, this.#keys, this.#all.callMs(callMs))
  }

  forceRelease(seen: SeenHold, callMs: number): Promise<boolean> {
    return forceReleaseOnMost(this.#all, this.#keys, seen, this.#all.callMs(callMs))
  }

  async peek(callMs: number): Promise<HolderFacts> {
    const read = (lock: RemoteLock) => lock.peek(this.#all.callMs(callMs))
    return this.#all.size.holderOf(await readFromMost(this.#all, this.#keys, read))
  }

  async inspect(callMs: number): Promise<LockFacts> {
    const read = (lock: RemoteLock) => lock.inspect(this.#all.callMs(callMs))
    return this.#all.size.factsOf(await readFromMost(this.#all, this.#keys, read))
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#headStart.listen(onHint)
  }

  async #acquire(meant: Attempt): Promise<AcquireAnswer> {
    const { masters, size, agreement, failure } = this.#all
    const { majority, spare } = size
    const attempt = { ...meant, callMs: this.#all.callMs(meant.callMs) }
    const { owner, callMs } = attempt
    const request = (master: Master) => master.acquire(this.#keys, attempt)
    const first = await this.#headStart.requestFirst(request)
    if (first?.held !== undefined) {
      this.#splitVotes.won()
      return first.held
    }
    const missed = this.#all.repairs.newMissedVotes()
    const votes = await requestAll(
      masters,
      (master) => (master === first?.master ? first.vote : request(master)),
      (some) => {
        const granted = count(some, 'granted')
        if (granted >= majority) return true
        return (some.length - granted > spare || isSplit(some, majority)) && 'nearly'
      },
      missed.late,
      this.#splitVotes.graceFactor,
    )
    if (isMisused(votes)) {
      agreement.abandon(this.#keys, owner)
      throw failure(votes, false)
    }
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      const agreed = await agreement.agree(this.#keys, owner, granted, callMs)
      if (agreed !== null) {
        this.#splitVotes.won()
        this.#headStart.won()
        return missed.won(agreed, votes)
      }
    }
    if (failuresOf(votes).length > spare) {
      if (!size.refuse(votes)) {
        throw failure(votes, granted.length > 0 || votes.length < masters.length)
      }
      // The caller does not ask again, so grants without an answer are released too.
      agreement.abandon(this.#keys, owner)
      throw failure(votes, false)
    }
    const held = this.#splitVotes.held(votes)
    if (held.split !== undefined) agreement.abandon(this.#keys, owner)
    return held
  }

  async #reenter(meant: Reentry): Promise<ReenterAnswer> {
    const { masters, size, agreement, failure } = this.#all
    const { majority, spare } = size
    const reentry = { ...meant, callMs: this.#all.callMs(meant.callMs) }
    const missed = this.#all.repairs.newMissedVotes()
    const votes = await requestAll(
      masters,
      (master) => master.reenter(this.#keys, reentry),
      (some) => {
        const granted = count(some, 'granted')
        return granted >= majority || (some.length - granted > spare && 'nearly')
      },
      missed.late,
      this.#splitVotes.graceFactor,
    )
    if (isMisused(votes)) throw failure(votes, false)
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      return missed.won({ kind: 'granted', token: Number.NaN }, votes)
    }
    if (count(votes, 'gone') > spare) {
      return agreement.abandon(this.#keys, reentry.owner)
    }
    throw failure(votes, granted.length > 0 || votes.length < masters.length)
  }

  async #handOver(meant: Passing): Promise<HandOverAnswer> {
    const { masters, size, agreement, failure } = this.#all
    const { majority, spare } = size
    const keys = this.#keys
    const passing = { ...meant, callMs: this.#all.callMs(meant.callMs) }
    const { from, to, callMs } = passing
    const missed = this.#all.repairs.newMissedVotes()
    const votes = await requestAll(
      masters,
      (master) => master.handOver(keys, passing),
      (some) =>
        count(some, 'granted') >= majority ||
        ((isMixed(some, majority) || count(some, 'gone') > spare) && 'nearly'),
      missed.late,
    )
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      const agreed = await agreement.agree(keys, to.owner, granted, callMs)
      if (agreed !== null) {
        agreement.abandon(keys, from.owner)
        return missed.won(agreed, votes)
      }
    }
    // No majority has confirmed the hand-over.
    if (isMixed(votes, majority) && count(votes, 'gone') <= spare) {
      agreement.abandon(keys, from.owner)
      const yielded = this.#splitVotes.yielded(votes)
      if (yielded.split !== undefined) agreement.abandon(keys, to.owner)
      return yielded
    }
    const areAllGone = granted.length === 0 && votes.length === masters.length
    if (areAllGone && count(votes, 'gone') > spare) return agreement.abandon(keys, from.owner)
    const isOpen = granted.length > 0 || votes.length < masters.length
    throw failure(votes, isOpen || count(votes, 'yielded') > 0)
  }

  /** Sends no token, because each owner id is used for one hold only. */
  async #lower(ending: LoweredHold): Promise<Released> {
    const { owner, holds, listens = false } = ending
    const { masters, size, agreement, failure } = this.#all
    const { majority, spare } = size
    const callMs = this.#all.callMs(ending.callMs)
    const votes = await requestAll(
      masters,
      (master) => master.lower(this.#keys, owner, holds, callMs),
      (some) => {
        const gone = count(some, 'gone')
        return answersOf(some).length - gone >= majority || gone > spare
      },
    )
    this.#headStart.released(votes)
    const answers = answersOf(votes)
    const gone = count(votes, 'gone')
    if (answers.length < majority && gone <= spare) throw failure(votes, answers.length > gone)
    // Masters that have not confirmed the release get the request again.
    if (holds === 0) agreement.abandon(this.#keys, owner)
    if (gone > spare) return { kind: 'gone' }
    if (holds > 0) return { kind: 'kept' }
    // The masters also count this client, if it listens.
    const waiting = answers.map((one) => (one.kind === 'freed' ? (one.others ?? 1) : 0))
    return { kind: 'freed', others: Math.max(0, Math.max(0, ...waiting) - Number(listens)) }
  }
}
