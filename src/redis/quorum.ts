import type { Grant, LockFacts, Released, Seat } from './answers.ts'
import { Contention } from './contention.ts'
import { Election } from './election.ts'
import { CallFailure } from './failure.ts'
import type { Seen } from './force.ts'
import { forceReleaseOnMost, seenByMost } from './force-votes.ts'
import { type LockKeys, lockKeys } from './keys.ts'
import { identifyAll, inspectMost } from './looking.ts'
import type { Master } from './master.ts'
import { Members } from './members.ts'
import { poll } from './poll.ts'
import { renewOnMost } from './renewals.ts'
import { Repairs } from './repairs.ts'
import type { Servers } from './servers.ts'
import { Splits } from './splits.ts'
import {
  answersOf,
  count,
  downOf,
  failuresOf,
  isGranted,
  isMixed,
  isSplit,
  Size,
  type Votes,
} from './votes.ts'
import type { Listening } from './wake-ups.ts'

/**
 * Independent masters as one: what a majority of them answers is what is so. The algorithm is that
 * of the Redlock page; tokens are agreed on by the majority that grants, and a master that may have
 * forgotten does not vote. Every attempt has a name of its own, so that what is told late to one
 * master cannot touch what was got since.
 *
 * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
 */
export class Quorum extends Members implements Servers {
  readonly countsListeners = true
  readonly #masters: readonly Master[]
  readonly #size: Size
  readonly #election: Election
  readonly #callMs: number
  readonly #splits: Splits
  readonly #contention: Contention
  readonly #repairs: Repairs
  #closed = false

  /** @param callMs how long one master may take, in milliseconds */
  constructor(masters: readonly Master[], callMs: number) {
    super(masters)
    this.#masters = masters
    this.#size = new Size(masters.length)
    this.#splits = new Splits(this.#size)
    this.#election = new Election(masters, this.#size.majority)
    this.#contention = new Contention(masters, this.#size)
    this.#callMs = callMs
    // Its holder does not hear of it here, and nothing is freed that he takes for his own.
    this.#repairs = new Repairs((seats) => void this.#renew(seats, 0, callMs, () => {}), callMs)
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
    const first = isFirst ? await this.#contention.askFirst(keys, ask) : undefined
    if (first?.held !== undefined) {
      this.#splits.over(keys)
      return first.held
    }
    const attempt = this.#repairs.attempt()
    const votes = await poll(
      this.#masters,
      (master) => (master === first?.master ? first.vote : ask(master)),
      (some) => {
        const granted = count(some, 'granted')
        if (granted >= majority) return true
        return (some.length - granted > spare || isSplit(some, majority)) && 'nearly'
      },
      attempt.late,
      this.#splits.patience(keys),
    )
    if (votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'misused')) {
      if (isFirst) this.#election.abandon(keys, owner, callMs)
      throw this.#failure(votes, false)
    }
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      if (!isFirst) return attempt.won({ kind: 'granted', token: Number.NaN }, votes)
      const agreed = await this.#election.agree(keys, owner, granted, callMs)
      if (agreed !== null) {
        this.#splits.over(keys)
        this.#contention.won(keys)
        return attempt.won(agreed, votes)
      }
    }
    if (!isFirst && count(votes, 'gone') > spare) {
      return this.#election.abandon(keys, owner, callMs)
    }
    const failed = failuresOf(votes).length
    if (!isFirst || (failed > spare && !this.#size.refuse(votes))) {
      throw this.#failure(votes, granted.length > 0 || votes.length < this.#masters.length)
    }
    if (failed > spare) {
      // Nobody asks again: also what was not heard is given back.
      this.#election.abandon(keys, owner, callMs)
      throw this.#failure(votes, false)
    }
    this.#election.giveBack(keys, owner, votes, callMs)
    return this.#splits.held(keys, votes)
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
    const votes = await poll(
      this.#masters,
      (master) => master.handOver(keys, from, to, listening, callMs, reserve),
      (some) =>
        count(some, 'granted') >= majority ||
        ((isMixed(some, majority) || count(some, 'gone') > spare) && 'nearly'),
      attempt.late,
    )
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      const agreed = await this.#election.agree(keys, to.owner, granted, callMs)
      if (agreed !== null) return attempt.won(agreed, votes)
    }
    // Those who have it now, or may have it, are too few.
    if (isMixed(votes, majority) && count(votes, 'gone') <= spare) {
      this.#election.giveBack(keys, to.owner, votes, callMs)
      return this.#splits.yielded(votes)
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
    const votes = await poll(
      this.#masters,
      (master) => master.release(keys, owner, holds, callMs),
      (some) => {
        const gone = count(some, 'gone')
        return answersOf(some).length - gone >= majority || gone > spare
      },
    )
    this.#contention.released(keys, votes)
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
    seats: readonly Seat[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    return this.#renew(seats, leaseMs, timeoutMs, ({ key, wireOwner }) =>
      this.#election.abandon(lockKeys(key), wireOwner, this.#callMs),
    )
  }

  ranOut(keys: LockKeys, owner: string): void {
    for (const master of this.#masters) master.over(keys, owner)
  }

  groups(seats: readonly Pick<Seat, 'key'>[]): number[][] {
    return seats.length === 0 ? [] : [[...seats.keys()]]
  }

  seen(keys: LockKeys, timeoutMs: number): Promise<Seen | null> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    return seenByMost(this.#masters, this.#size, keys, callMs, this.#failure)
  }

  forceRelease(keys: LockKeys, seen: Seen, timeoutMs: number): Promise<boolean> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    return forceReleaseOnMost(this.#masters, this.#size, keys, seen, callMs, this.#failure)
  }

  inspect(keys: LockKeys, timeoutMs: number, most?: number): Promise<LockFacts> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    const ask = (master: Master) => master.inspect(keys, callMs, most)
    return inspectMost(this.#masters, this.#size, ask, (votes) => this.#failure(votes, false))
  }

  listen(keys: LockKeys, onWake: () => void): Listening {
    return this.#contention.listen(keys, onWake)
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

  #renew(seats: readonly Seat[], leaseMs: number, timeoutMs: number, lost: (seat: Seat) => void) {
    const missing = (seat: Seat) => this.#repairs.add(seat)
    return renewOnMost(this.#masters, this.#size, seats, leaseMs, timeoutMs, { lost, missing })
  }

  readonly #failure = (votes: Votes<unknown>, mayBeDone: boolean): CallFailure =>
    this.#closed
      ? new CallFailure('closed', 'the client was closed')
      : this.#size.failure(votes, mayBeDone)
}
