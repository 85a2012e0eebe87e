import type { Granted } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { HolderFacts, LockFacts } from '../facts.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { Vote } from './ballot.ts'
import { NoMajority } from './no-majority.ts'

interface Member {
  /** The name of the master in errors. */
  readonly label: string
  readonly server: { readonly whyDown: CallFailure | undefined }
}

export type Votes<A, V extends Member = Member> = readonly Vote<V, A | CallFailure>[]

export interface VoteAnswer {
  readonly kind: string
}

/**
 * The answer of one master to a renewal: one result for each lease, or the failure of the whole
 * request.
 */
export type Renewals = RenewedLease[] | CallFailure

export function isAnswer<T>(answer: T | CallFailure): answer is T {
  return !(answer instanceof CallFailure)
}

export function answersOf<A>(votes: Votes<A>): A[] {
  return votes.map(({ answer }) => answer).filter(isAnswer)
}

export function isGranted<A extends VoteAnswer, V>(
  vote: Vote<V, A | CallFailure>,
): vote is Vote<V, Extract<A, Granted>> {
  return isAnswer(vote.answer) && vote.answer.kind === 'granted'
}

export function countAnswers(votes: Votes<unknown>): number {
  let times = 0
  for (const { answer } of votes) if (isAnswer(answer)) times += 1
  return times
}

/** Returns how many masters gave an answer of this kind. */
export function count<K extends string>(votes: Votes<{ readonly kind: K }>, kind: K): number {
  let times = 0
  for (const { answer } of votes) if (isAnswer(answer) && answer.kind === kind) times += 1
  return times
}

/**
 * True if a majority has answered, and at least one master refused. The client should not wait
 * longer, because other clients cannot get its votes meanwhile.
 */
export function isSplit(votes: Votes<VoteAnswer>, majority: number): boolean {
  return count(votes, 'held') > 0 && countAnswers(votes) >= majority
}

/**
 * For a hand-over: true if a majority has answered, and at least one master freed the lock for
 * other clients.
 */
export function isMixed(votes: Votes<VoteAnswer>, majority: number): boolean {
  return count(votes, 'yielded') > 0 && countAnswers(votes) >= majority
}

export function mostOften<T>(all: readonly T[]): { value: T; times: number } | undefined {
  const counts = new Map<T, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  const [first] = [...counts].sort(([, a], [, b]) => b - a)
  return first && { value: first[0], times: first[1] }
}

export interface RequestedMasters<M> {
  readonly masters: readonly M[]
  readonly size: Majority
  /** Makes one failure from these votes. See {@link Majority.failure}. */
  readonly failure: (votes: Votes<unknown>, mayBeDone: boolean) => CallFailure
}

/** How many masters there are, and how many of them decide. */
export class Majority {
  readonly all: number
  readonly majority: number
  /** How many masters may refuse or stay silent while the others are still a majority. */
  readonly spare: number

  constructor(all: number) {
    this.all = all
    this.majority = Math.floor(all / 2) + 1
    this.spare = all - this.majority
  }

  /** True if so many masters refused permanently that the other masters are not a majority. */
  isRefused(votes: Votes<unknown>): boolean {
    return failuresOf(votes).filter(({ answer }) => answer.permanent).length > this.spare
  }

  /**
   * Makes one failure for all masters. Its message lists the masters that failed, and why.
   *
   * @param mayBeDone true if the request may have had an effect, or may still have one
   */
  failure(votes: Votes<unknown>, mayBeDone: boolean): CallFailure {
    const failed = failuresOf(votes)
    const reasons = failed.map(({ member, answer }) => `${member.label}: ${answer.message}`)
    const kinds = failed.map(({ answer }) => answer.kind)
    const message = `no majority of ${this.all} masters; ${reasons.join('; ') || 'the votes were split'}`
    const isOutage = failed.some(({ answer }) => answer.isOutage)
    const each = failed.map(({ answer }) => answer)
    const make = (kind: CallFailure['kind'], permanent: boolean) =>
      new NoMajority(kind, message, each, permanent, isOutage)
    if (kinds.includes('misused')) return make('misused', true)
    if (this.isRefused(votes)) {
      const kind = (['refused', 'unsupported'] as const).find((one) => kinds.includes(one))
      return make(kind ?? 'unsent', true)
    }
    if (mayBeDone || failed.length === 0 || kinds.includes('unknown')) return make('unknown', false)
    return make(kinds.includes('unsent') ? 'unsent' : 'refused', false)
  }

  /**
   * Returns for how many milliseconds a majority still grants the lease at index `i`. Returns
   * `gone` if no majority can have the lease, and a failure if too few masters answered.
   */
  leftOf(votes: readonly Vote<Member, Renewals>[], i: number): RenewedLease {
    const each = votes.map(({ member, answer }) => ({
      member,
      answer: answer instanceof CallFailure ? answer : (answer[i] as RenewedLease),
    }))
    const answers = answersOf(each)
    const remaining = answers.filter((one) => one !== 'gone')
    if (remaining.length >= this.majority) {
      return remaining.sort((a, b) => b - a)[this.majority - 1] as number
    }
    if (answers.length - remaining.length > this.spare) return 'gone'
    return this.failure(each, true)
  }

  /**
   * Returns the facts about the holder that a majority of masters names. `holder` is null if no
   * owner has a majority.
   */
  holderOf(facts: readonly HolderFacts[]): HolderFacts {
    const most = mostOften(facts.map(({ holder }) => holder))
    const holder = most !== undefined && most.times >= this.majority ? most.value : null
    const theirs = facts.filter((one) => holder !== null && one.holder === holder)
    const counts = theirs.map(({ holdCount }) => holdCount).sort((a, b) => b - a)
    const ttls = theirs.map(({ ttlMs }) => ttlMs ?? Infinity).sort((a, b) => b - a)
    const ttlMs = ttls[this.majority - 1] ?? Infinity
    // The highest token that a majority may know. Masters without an answer count as if they know
    // it. The result is never below the last issued token, but a vote without a majority may raise
    // it.
    const tokens = facts.map(({ token }) => token ?? 0).sort((a, b) => b - a)
    return {
      holder,
      // A majority has at least this count. A master may have a higher count until a release
      // reaches it.
      holdCount: counts[this.majority - 1] ?? 0,
      ttlMs: ttlMs === Infinity ? null : ttlMs,
      token: tokens[facts.length - this.spare - 1] || null,
    }
  }

  /**
   * Returns the state of a lock. Takes the number of waiters from the master that reports the most.
   * A quorum has no queue. Its tokens are no times, so the age of a hold is unknown.
   */
  factsOf(facts: readonly LockFacts[]): LockFacts {
    return {
      ...this.holderOf(facts),
      ageMs: null,
      waiters: Math.max(...facts.map(({ waiters }) => waiters)),
      queue: [],
      queueLength: 0,
    }
  }
}

export function failuresOf(votes: Votes<unknown>): Vote<Member, CallFailure>[] {
  return votes.filter(
    (vote): vote is Vote<Member, CallFailure> => vote.answer instanceof CallFailure,
  )
}

/** Returns the masters that are known to be unreachable, each with its failure. */
export function downOf(masters: readonly Member[]): Vote<Member, CallFailure>[] {
  return masters.flatMap((member) => {
    const answer = member.server.whyDown
    return answer === undefined ? [] : [{ member, answer }]
  })
}

/** True if a master failed because it is the same server as another master. */
export function isMisused(votes: Votes<unknown>): boolean {
  return failuresOf(votes).some(({ answer }) => answer.kind === 'misused')
}
