import type { Granted, HolderFacts, LockFacts } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { Vote } from './ask-all.ts'

interface Voter {
  /** Its name in errors. */
  readonly label: string
  readonly server: { readonly whyDown: CallFailure | undefined }
}

export type Votes<A, V extends Voter = Voter> = readonly Vote<V, A | CallFailure>[]

interface Answer {
  readonly kind: string
}

/** The answer of one master for each lease, or its failure. */
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

/** How many masters gave this answer. */
export function count<K extends string>(votes: Votes<{ readonly kind: K }>, kind: K): number {
  let times = 0
  for (const { answer } of votes) if (isAnswer(answer) && answer.kind === kind) times += 1
  return times
}

/**
 * True if a majority has answered, and some of them refused. The other masters may never answer.
 * While the client waits for them, it keeps its votes from other clients.
 */
export function isSplit(votes: Votes<Answer>, majority: number): boolean {
  return count(votes, 'held') > 0 && answersOf(votes).length >= majority
}

/**
 * As {@link isSplit}, for a hand-over: a majority has answered, and some masters freed the lock for
 * others.
 */
export function isMixed(votes: Votes<Answer>, majority: number): boolean {
  return count(votes, 'yielded') > 0 && answersOf(votes).length >= majority
}

export function mostOften<T>(all: readonly T[]): { value: T; times: number } | undefined {
  const counts = new Map<T, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  const [first] = [...counts].sort(([, a], [, b]) => b - a)
  return first && { value: first[0], times: first[1] }
}

/** The masters, and how many of them decide. */
export interface AskedMasters<M> {
  readonly masters: readonly M[]
  readonly size: Majority
  /** Makes the failure if no majority answered. */
  readonly failure: (votes: Votes<unknown>, mayBeDone: boolean) => CallFailure
}

/** How many masters there are, and how many of them decide. */
export class Majority {
  readonly all: number
  readonly majority: number
  /** How many masters can refuse or stay silent without harm. */
  readonly spare: number

  constructor(all: number) {
    this.all = all
    this.majority = Math.floor(all / 2) + 1
    this.spare = all - this.majority
  }

  /** True if so many masters refused permanently that the others are no majority. */
  refuse(votes: Votes<unknown>): boolean {
    return failuresOf(votes).filter(({ answer }) => answer.permanent).length > this.spare
  }

  /**
   * One failure for all masters: which masters failed, and why.
   *
   * @param mayBeDone true if the request may have had an effect, or may still have one
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

  /**
   * The part of a lease that a majority still grants, in milliseconds; -2 if no majority has the
   * lease.
   */
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

  /** The holder of a lock, as a majority knows it. */
  holderOf(facts: readonly HolderFacts[]): HolderFacts {
    const most = mostOften(facts.map(({ holder }) => holder))
    const holder = most !== undefined && most.times >= this.majority ? most.value : null
    const theirs = facts.filter((one) => holder !== null && one.holder === holder)
    const counts = theirs.map(({ holdCount }) => holdCount).sort((a, b) => b - a)
    const ttls = theirs.map(({ ttlMs }) => ttlMs ?? Infinity).sort((a, b) => b - a)
    const ttlMs = ttls[this.majority - 1] ?? Infinity
    // The highest token that a majority may know, even if some masters did not answer. It is at
    // least the last issued token. It is rarely higher: a vote without a majority may have raised a
    // counter.
    const tokens = facts.map(({ token }) => token ?? 0).sort((a, b) => b - a)
    return {
      holder,
      // The count that a majority has at least. A late master may have a higher count, because a
      // release has not reached it yet.
      holdCount: counts[this.majority - 1] ?? 0,
      ttlMs: ttlMs === Infinity ? null : ttlMs,
      token: tokens[facts.length - this.spare - 1] || null,
    }
  }

  /** The state of a lock, as a majority knows it. */
  factsOf(facts: readonly LockFacts[]): LockFacts {
    return {
      ...this.holderOf(facts),
      waiters: Math.max(...facts.map(({ waiters }) => waiters)),
      queue: [],
      queueLength: 0,
    }
  }
}

/** The masters that failed, and why. */
export function failuresOf(votes: Votes<unknown>): Vote<Voter, CallFailure>[] {
  return votes.filter(
    (vote): vote is Vote<Voter, CallFailure> => vote.answer instanceof CallFailure,
  )
}

/** The masters that are known to be down, and why. */
export function downOf(masters: readonly Voter[]): Vote<Voter, CallFailure>[] {
  return masters.flatMap((member) => {
    const answer = member.server.whyDown
    return answer === undefined ? [] : [{ member, answer }]
  })
}

/** True if a master reports that the request is invalid. */
export function isMisused(votes: Votes<unknown>): boolean {
  return failuresOf(votes).some(({ answer }) => answer.kind === 'misused')
}
