import type { Grant, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { LockKeys } from '../redis/keys.ts'
import { answersOf, isGranted, type Majority, type Votes } from './majority.ts'

/** How long two who split the votes pause at first and at most, in milliseconds. */
const SPLIT_MS = { first: 5, most: 200 }

/** How often the wait for those who do not answer is doubled. */
const MOST_DOUBLINGS = 10

/** What to make of votes that gave nobody a majority. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row the votes for a lock were split. */
  readonly #inARow = new WeakMap<LockKeys, number>()

  constructor(size: Majority) {
    this.#size = size
  }

  /** Somebody has it: when there may be a majority again, and what is to be thought of the votes. */
  held(keys: LockKeys, votes: Votes<Grant>): Held {
    const ttls = answersOf(votes)
      .filter((answer): answer is Held => answer.kind === 'held')
      .map(({ ttlMs }) => (ttlMs < 0 ? Infinity : ttlMs))
      .sort((a, b) => a - b)
    // So many of those who have it now must be over before a majority can be had.
    const ttlMs = ttls[Math.max(0, ttls.length - this.#size.spare - 1)] ?? 0
    const held = { kind: 'held', ttlMs: ttlMs === Infinity ? -1 : ttlMs } as const
    const unsure = this.#isUnsure(votes)
    if (votes.some(isGranted)) {
      return { ...held, split: { pauseMs: this.#pauseMs(keys), unsure } }
    }
    this.over(keys)
    return unsure ? { ...held, split: { unsure } } : held
  }

  /** A majority is free for others: where a minority was handed over all the same, that is over. */
  yielded(votes: Votes<Grant>): Yielded {
    const all = answersOf(votes).filter((answer): answer is Yielded => answer.kind === 'yielded')
    const yielded = {
      kind: 'yielded',
      others: Math.max(...all.map(({ others }) => others)),
    } as const
    const unsure = this.#isUnsure(votes)
    return unsure || votes.some(isGranted) ? { ...yielded, split: { unsure } } : yielded
  }

  /**
   * How much longer than usual it is waited for those who have not answered, when the others are split:
   * not at all at first, for they may never answer, and who waits keeps others out. But where the
   * majority is not to be had without them they are heard in the end.
   */
  graceFactor(keys: LockKeys): number {
    return 2 ** Math.min(this.#inARow.get(keys) ?? 0, MOST_DOUBLINGS)
  }

  /** Somebody got a majority. */
  over(keys: LockKeys): void {
    this.#inARow.delete(keys)
  }

  /** Whether a master may have granted it, or may yet, that has not said so. */
  #isUnsure(votes: Votes<Grant>): boolean {
    return (
      votes.length < this.#size.all ||
      votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'unknown')
    )
  }

  /** Those who split the votes pause at random, longer each time. */
  #pauseMs(keys: LockKeys): number {
    const splits = (this.#inARow.get(keys) ?? 0) + 1
    this.#inARow.set(keys, splits)
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** splits, SPLIT_MS.most)
  }
}
