import type { AcquireAnswer, HandOverAnswer, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { answersOf, isGranted, type Majority, mostOften, type Votes } from './majority.ts'

/** How long two who split the votes pause at first and at most, in milliseconds. */
const SPLIT_MS = { first: 5, most: 200 }

/** How often the wait for those who do not answer is doubled. */
const MOST_DOUBLINGS = 10

/** What to make of votes for one lock that gave nobody a majority. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row they were split. */
  #inARow = 0

  constructor(size: Majority) {
    this.#size = size
  }

  /** Somebody has it: when there may be a majority again, and what is to be thought of the votes. */
  held(votes: Votes<AcquireAnswer>): Held {
    const all = answersOf(votes).filter((answer): answer is Held => answer.kind === 'held')
    const ttls = all.map(({ ttlMs }) => (ttlMs < 0 ? Infinity : ttlMs)).sort((a, b) => a - b)
    // So many of those who have it now must be over before a majority can be had.
    const ttlMs = ttls[Math.max(0, ttls.length - this.#size.spare - 1)] ?? 0
    const holder = mostOften(all.map(({ holder = '' }) => holder))?.value ?? ''
    const held = { kind: 'held', ttlMs: ttlMs === Infinity ? -1 : ttlMs, holder } as const
    if (votes.some(isGranted)) {
      return { ...held, split: { pauseMs: this.#pauseMs() } }
    }
    this.over()
    return this.#isUnsure(votes) ? { ...held, split: {} } : held
  }

  /** A majority is free for others: where a minority was handed over all the same, that is over. */
  yielded(votes: Votes<HandOverAnswer>): Yielded {
    const all = answersOf(votes).filter((answer): answer is Yielded => answer.kind === 'yielded')
    const yielded = {
      kind: 'yielded',
      others: Math.max(...all.map(({ others }) => others)),
    } as const
    const isSplit = votes.some(isGranted) || this.#isUnsure(votes)
    return isSplit ? { ...yielded, split: {} } : yielded
  }

  /**
   * How much longer than usual it is waited for those who have not answered, when the others are split:
   * not at all at first, for they may never answer, and who waits keeps others out. But where the
   * majority is not to be had without them they are heard in the end.
   */
  get graceFactor(): number {
    return 2 ** Math.min(this.#inARow, MOST_DOUBLINGS)
  }

  /** Somebody got a majority. */
  over(): void {
    this.#inARow = 0
  }

  /** Whether a master may have granted it, or may yet, that has not said so. */
  #isUnsure(votes: Votes<unknown>): boolean {
    return (
      votes.length < this.#size.all ||
      votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'unknown')
    )
  }

  /** Those who split the votes pause at random, longer each time. */
  #pauseMs(): number {
    this.#inARow += 1
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** this.#inARow, SPLIT_MS.most)
  }
}
