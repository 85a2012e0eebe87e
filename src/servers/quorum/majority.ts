import type { Granted, HolderFacts, LockFacts } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { Vote } from './ask-all.ts'

/** One of those who vote. */
interface Voter {
  /** How it is named in errors. */
  readonly label: string
  readonly server: { readonly whyDown: CallFailure | undefined }
}

export type Votes<A, V extends Voter = Voter> = readonly Vote<V, A | CallFailure>[]

/** What a master was asked for has several answers. */
interface Answer {
  readonly kind: string
}

/** What one master answered for each lease, or why it did not. */
export type Renewals = (number | CallFailure)[] | CallFailure

export function isAnswer<T>(answer: T | CallFailure): answer is T {
  return !(answer instanceof CallFailure)
}

export function answersOf<A>(votes: Votes<A>): A[] {
  return votes.map(({ answer }) => answer).filter(isAnswer)
}

export function isGranted<A extends Answer, V>(
  vote: Vote<V, A | CallFailure>,
): vote is Vote<V, Extract<A, Granted>> {
  return isAnswer(vote.answer) && vote.answer.kind === 'granted'
}

/** How many answered so. */
export function count<K extends string>(votes: Votes<{ readonly kind: K }>, kind: K): number {
  let times = 0
  for (const { answer } of votes) if (isAnswer(answer) && answer.kind === kind) times += 1
  return times
}

/**
 * Whether a majority has answered and does not agree. Who has not answered may never do: to wait for it
 * would keep the votes that each of those has who ask.
 */
export function isSplit(votes: Votes<Answer>, majority: number): boolean {
  return count(votes, 'held') > 0 && answersOf(votes).length >= majority
}

/** The same for a hand-over: a majority has answered, and some of them have let others go before. */
export function isMixed(votes: Votes<Answer>, majority: number): boolean {
  return count(votes, 'yielded') > 0 && answersOf(votes).length >= majority
}

export function mostOften<T>(all: readonly T[]): { value: T; times: number } | undefined {
  const counts = new Map<T, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  const [first] = [...counts].sort(([, a], [, b]) => b - a)
  return first && { value: first[0], times: first[1] }
}

/** Those who are asked, and how many of them decide. */
export interface AskedMasters<M> {
  readonly masters: readonly M[]
  readonly size: Majority
  /** Where no majority answered. */
  readonly failure: (votes: Votes<unknown>, mayBeDone: boolean) => CallFailure
}

/** How many masters there are, and how many of them decide. */
export class Majority {
  readonly all: number
  readonly majority: number
  /** How many can say no, or nothing, without harm. */
  readonly spare: number

  constructor(all: number) {
    this.all = all
    this.majority = Math.floor(all / 2) + 1
    this.spare = all - this.majority
  }

  /** Whether a majority refused for a reason that does not pass. */
  refuse(votes: Votes<unknown>): boolean {
    return failuresOf(votes).filter(({ answer }) => answer.permanent).length > this.spare
  }

  /**
   * One failure for all: which masters failed, and why.
   *
   * @param mayBeDone whether something was done all the same, or may yet be
   */
  failure(votes: Votes<unknown>, mayBeDone: boolean): CallFailure {
    const failed = failuresOf(votes)
    const reasons = failed.map(({ member, answer }) => `${member.label}: ${answer.message}`)
    const kinds = failed.map(({ answer }) => answer.kind)
    const message = `no majority of ${this.all} masters; ${reasons.join('; ') || 'the votes were split'}`
    const isOutage = failed.some(({ answer }) => answer.isOutage)
    const make = (kind: CallFailure['kind'], permanent: boolean) =>
      new CallFailure(kind, message, failed[0]?.answer, permanent, isOutage)
    if (kinds.includes('misused')) return make('misused', true)
    if (this.refuse(votes)) {
      const kind = (['refused', 'unsupported'] as const).find((one) => kinds.includes(one))
      return make(kind ?? 'unsent', true)
    }
    if (mayBeDone || failed.length === 0 || kinds.includes('unknown')) return make('unknown', false)
    return make(kinds.includes('unsent') ? 'unsent' : 'refused', false)
  }

  /** What is left of a lease for sure, on a majority; -2 when no majority has it any more. */
  leftOf(votes: readonly Vote<Voter, Renewals>[], i: number): number | CallFailure {
    const each = votes.map(({ member, answer }) => ({
      member,
      answer: answer instanceof CallFailure ? answer : (answer[i] as number | CallFailure),
    }))
    const numbers = answersOf(each)
    const left = numbers.filter((ms) => ms !== -2).map((ms) => (ms === -1 ? Infinity : ms))
    if (left.length >= this.majority) {
      const sure = left.sort((a, b) => b - a)[this.majority - 1] as number
      return sure === Infinity ? -1 : sure
    }
    if (numbers.length - left.length > this.spare) return -2
    return this.failure(each, true)
  }

  /** Who has a lock, as a majority knows it. */
  holderOf(facts: readonly HolderFacts[]): HolderFacts {
    const most = mostOften(facts.map(({ holder }) => holder))
    const holder = most !== undefined && most.times >= this.majority ? most.value : null
    const theirs = facts.filter((one) => holder !== null && one.holder === holder)
    const counts = theirs.map(({ holdCount }) => holdCount).sort((a, b) => b - a)
    const ttls = theirs.map(({ ttlMs }) => ttlMs ?? Infinity).sort((a, b) => b - a)
    const ttlMs = ttls[this.majority - 1] ?? Infinity
    // The last one that a majority may know, where some did not answer: it is not below the last that
    // was issued, and mostly not above it, for a vote that came to nothing may have counted further.
    const tokens = facts.map(({ token }) => token ?? 0).sort((a, b) => b - a)
    return {
      holder,
      // One that is late may have more: what was released is told to it in order.
      holdCount: counts[this.majority - 1] ?? 0,
      ttlMs: ttlMs === Infinity ? null : ttlMs,
      token: tokens[facts.length - this.spare - 1] || null,
    }
  }

  /** What a majority knows of a lock. */
  factsOf(facts: readonly LockFacts[]): LockFacts {
    return {
      ...this.holderOf(facts),
      waiters: Math.max(...facts.map(({ waiters }) => waiters)),
      queue: [],
      queueLength: 0,
    }
  }
}

/** Those who did not answer, and why. */
export function failuresOf(votes: Votes<unknown>): Vote<Voter, CallFailure>[] {
  return votes.filter(
    (vote): vote is Vote<Voter, CallFailure> => vote.answer instanceof CallFailure,
  )
}

/** Those that are known to be down, and why. */
export function downOf(masters: readonly Voter[]): Vote<Voter, CallFailure>[] {
  return masters.flatMap((member) => {
    const answer = member.server.whyDown
    return answer === undefined ? [] : [{ member, answer }]
  })
}

/** Whether one of them says that what is asked makes no sense. */
export function isMisused(votes: Votes<unknown>): boolean {
  return failuresOf(votes).some(({ answer }) => answer.kind === 'misused')
}
