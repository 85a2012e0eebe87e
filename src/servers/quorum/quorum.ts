import type { Grant, LeaseToRenew, LockFacts, Released } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { LockServer } from '../lock-server.ts'
import type { SeenHold } from '../redis/force-release.ts'
import { type LockKeys, lockKeys } from '../redis/keys.ts'
import type { Subscription } from '../redis/subscriptions.ts'
import { askAll } from './ask-all.ts'
import { forceReleaseOnMost, seenByMost } from './force-release.ts'
import { HeadStart } from './head-start.ts'
import { identifyAll, inspectMost } from './inspect.ts'
import {
  answersOf,
  count,
  downOf,
  failuresOf,
  isGranted,
  isMixed,
  isSplit,
  Majority,
  type Votes,
} from './majority.ts'
import type { Master } from './master.ts'
import { Members } from './members.ts'
import { renewOnMost } from './renew.ts'
import { Repairs } from './repairs.ts'
import { SplitVotes } from './split-votes.ts'
import { TokenAgreement } from './token-agreement.ts'

/**
 * Independent masters as one: what a majority of them answers is what is so. The algorithm is that
 * of the Redlock page; tokens are agreed on by the majority that grants, and a master that may have
 * forgotten does not vote. Every attempt has a name of its own, so that what is told late to one
 * master cannot touch what was got since.
 *
 * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
 */
export class Quorum extends Members implements LockServer {
  readonly countsListeners = true
  readonly #masters: readonly Master[]
  readonly #size: Majority
  readonly #agreement: TokenAgreement
  readonly #callMs: number
  readonly #splitVotes: SplitVotes
  readonly #headStart: HeadStart
  readonly #repairs: Repairs
  #closed = false

  /** @param callMs how long one master may take, in milliseconds */
  constructor(masters: readonly Master[], callMs: number) {
    super(masters)
    this.#masters = masters
    this.#size = new Majority(masters.length)
    this.#splitVotes = new SplitVotes(this.#size)
    this.#agreement = new TokenAgreement(masters, this.#size.majority)
    this.#headStart = new HeadStart(masters, this.#size)
    this.#callMs = callMs
    // Its holder does not hear of it here, and nothing is freed that he takes for his own.
    this.#repairs = new Repairs((leases) => void this.#renew(leases, 0, callMs, () => {}), callMs)
  }

  async acquire(
    keys: LockKeys,
    owner: string,
    leaseMs: number,
    holds: number,
    timeoutMs: number,
    reserve = 0,
    token?: number,
  ): Promise<Grant> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const ask = (one: Master) => one.acquire(keys, owner, leaseMs, holds, callMs, reserve, token)
    const isFirst = token === undefined
    const first = isFirst ? await this.#headStart.askFirst(keys, ask) : undefined
    if (first?.held !== undefined) {
      this.#splitVotes.over(keys)
      return first.held
    }
    const attempt = this.#repairs.attempt()
    const votes = await askAll(
      this.#masters,
      (master) => (master === first?.master ? first.vote : ask(master)),
      (some) => {
        const granted = count(some, 'granted')
        if (granted >= majority) return true
        return (some.length - granted > spare || isSplit(some, majority)) && 'nearly'
      },
      attempt.late,
      this.#splitVotes.graceFactor(keys),
    )
    if (votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'misused')) {
      if (isFirst) this.#agreement.abandon(keys, owner, callMs)
      throw this.#failure(votes, false)
    }
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      if (!isFirst) return attempt.won({ kind: 'granted', token: Number.NaN }, votes)
      const agreed = await this.#agreement.agree(keys, owner, granted, callMs)
      if (agreed !== null) {
        this.#splitVotes.over(keys)
        this.#headStart.won(keys)
        return attempt.won(agreed, votes)
      }
    }
    if (!isFirst && count(votes, 'gone') > spare) {
      return this.#agreement.abandon(keys, owner, callMs)
    }
    const failed = failuresOf(votes).length
    if (!isFirst || (failed > spare && !this.#size.refuse(votes))) {
      throw this.#failure(votes, granted.length > 0 || votes.length < this.#masters.length)
    }
    if (failed > spare) {
      // Nobody asks again: also what was not heard is given back.
      this.#agreement.abandon(keys, owner, callMs)
      throw this.#failure(votes, false)
    }
    this.#agreement.giveBack(keys, owner, votes, callMs)
    return this.#splitVotes.held(keys, votes)
  }

  async handOver(
    keys: LockKeys,
    from: { owner: string; token: number },
    to: { owner: string; leaseMs: number },
    listening: number | null,
    timeoutMs: number,
    reserve = 0,
  ): Promise<Grant> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const attempt = this.#repairs.attempt()
    const votes = await askAll(
      this.#masters,
      (master) => master.handOver(keys, from, to, listening, callMs, reserve),
      (some) =>
        count(some, 'granted') >= majority ||
        ((isMixed(some, majority) || count(some, 'gone') > spare) && 'nearly'),
      attempt.late,
    )
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      const agreed = await this.#agreement.agree(keys, to.owner, granted, callMs)
      if (agreed !== null) return attempt.won(agreed, votes)
    }
    // Those who have it now, or may have it, are too few.
    if (isMixed(votes, majority) && count(votes, 'gone') <= spare) {
      this.#agreement.giveBack(keys, to.owner, votes, callMs)
      return this.#splitVotes.yielded(votes)
    }
    if (granted.length === 0 && votes.length === this.#masters.length) {
      if (count(votes, 'gone') > spare) return { kind: 'gone' }
    }
    const isOpen = granted.length > 0 || votes.length < this.#masters.length
    throw this.#failure(votes, isOpen || count(votes, 'yielded') > 0)
  }

  async release(
    keys: LockKeys,
    owner: string,
    holds: number,
    _token: number | '',
    timeoutMs: number,
  ): Promise<Released> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await askAll(
      this.#masters,
      (master) => master.release(keys, owner, holds, callMs),
      (some) => {
        const gone = count(some, 'gone')
        return answersOf(some).length - gone >= majority || gone > spare
      },
    )
    this.#headStart.released(keys, votes)
    const answers = answersOf(votes)
    const gone = count(votes, 'gone')
    if (answers.length < majority && gone <= spare) {
      throw this.#failure(votes, answers.length > gone)
    }
    if (gone > spare) return { kind: 'gone' }
    const listeners = answers.map((one) => (one.kind === 'freed' ? one.listeners : 0))
    return holds > 0 ? { kind: 'kept' } : { kind: 'freed', listeners: Math.max(0, ...listeners) }
  }

  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    return this.#renew(leases, leaseMs, timeoutMs, ({ key, wireOwner }) =>
      this.#agreement.abandon(lockKeys(key), wireOwner, this.#callMs),
    )
  }

  ranOut(keys: LockKeys, owner: string): void {
    for (const master of this.#masters) master.abandon(keys, owner)
  }

  groups(leases: readonly Pick<LeaseToRenew, 'key'>[]): number[][] {
    return leases.length === 0 ? [] : [[...leases.keys()]]
  }

  seen(keys: LockKeys, timeoutMs: number): Promise<SeenHold | null> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    return seenByMost(this.#masters, this.#size, keys, callMs, this.#failure)
  }

  forceRelease(keys: LockKeys, seen: SeenHold, timeoutMs: number): Promise<boolean> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    return forceReleaseOnMost(this.#masters, this.#size, keys, seen, callMs, this.#failure)
  }

  inspect(keys: LockKeys, timeoutMs: number, most?: number): Promise<LockFacts> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    const ask = (master: Master) => master.inspect(keys, callMs, most)
    return inspectMost(this.#masters, this.#size, ask, (votes) => this.#failure(votes, false))
  }

  listen(keys: LockKeys, onWake: () => void): Subscription {
    return this.#headStart.listen(keys, onWake)
  }

  get whyDown(): CallFailure | undefined {
    const down = downOf(this.#masters)
    return down.length > this.#size.spare ? this.#failure(down, false) : undefined
  }

  /** All of them together; null where one does not tell, for others may share the rest. */
  identify(timeoutMs: number): Promise<string | null> {
    return identifyAll(this.#masters, this.#size, Math.min(timeoutMs, this.#callMs))
  }

  /** The masters stay open. */
  close(): void {
    this.#closed = true
    this.#repairs.close()
    for (const master of this.#masters) master.close()
  }

  #renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    timeoutMs: number,
    lost: (lease: LeaseToRenew) => void,
  ) {
    const missing = (lease: LeaseToRenew) => this.#repairs.add(lease)
    return renewOnMost(this.#masters, this.#size, leases, leaseMs, timeoutMs, { lost, missing })
  }

  readonly #failure = (votes: Votes<unknown>, mayBeDone: boolean): CallFailure =>
    this.#closed
      ? new CallFailure('closed', 'the client was closed')
      : this.#size.failure(votes, mayBeDone)
}
