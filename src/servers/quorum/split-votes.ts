import type { AcquireAnswer, HandOverAnswer, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { answersOf, isGranted, type Majority, mostOften, type Votes } from './majority.ts'

/**
 * The limits of the random pause after split votes, in milliseconds. The limit is `first`, doubled
 * for each split in a row, but not more than `most`.
 */
const SPLIT_MS = { first: 5, most: 200 }

/** The wait for missing answers is doubled at most this many times. */
const MOST_DOUBLINGS = 10

/** Evaluates votes about one lock if no client got a majority. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row the votes were split. */
  #inARow = 0

  constructor(size: Majority) {
    this.#size = size
  }

  /**
   * Makes the refusal. `ttlMs` is the time until a majority of masters may be free. `split` is set
   * if a master may have granted the lock.
   */
  held(votes: Votes<AcquireAnswer>): Held {
    const all = answersOf(votes).filter((answer): answer is Held => answer.kind === 'held')
    const ttls = all.map(({ ttlMs }) => ttlMs).sort((a, b) => a - b)
    // A majority is free when enough leases have expired: at most `spare` masters still refuse.
    const ttlMs = ttls[Math.max(0, ttls.length - this.#size.spare - 1)] ?? 0
    const holder = mostOften(all.map(({ holder = '' }) => holder))?.value ?? ''
    const held = { kind: 'held', ttlMs, holder } as const
    if (votes.some(isGranted)) {
      return { ...held, split: { pauseMs: this.#pauseMs() } }
    }
    this.won()
    return this.#isUnsure(votes) ? { ...held, split: {} } : held
  }

  /**
   * Makes the answer to a hand-over if some masters freed the lock for other clients. `split` is
   * set if a master may have granted the hand-over.
   */
  yielded(votes: Votes<HandOverAnswer>): Yielded {
    const all = answersOf(votes).filter((answer): answer is Yielded => answer.kind === 'yielded')
    const yielded = {
      kind: 'yielded',
      others: Math.max(...all.map(({ others = 1 }) => others)),
    } as const
    const isSplit = votes.some(isGranted) || this.#isUnsure(votes)
    return isSplit ? { ...yielded, split: {} } : yielded
  }

  /**
   * The factor for the wait for missing answers. At first it is 1, because the masters may never
   * answer, and other clients cannot get this client's votes meanwhile. It doubles with each split
   * in a row, because a majority may need exactly these masters.
   */
  get graceFactor(): number {
    return 2 ** Math.min(this.#inARow, MOST_DOUBLINGS)
  }

  /** Ends the row of split votes, so that the next pause is short again. */
  won(): void {
    this.#inARow = 0
  }

  /** True if a master without an answer may have granted the lock, or may still grant it. */
  #isUnsure(votes: Votes<unknown>): boolean {
    return (
      votes.length < this.#size.all ||
      votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'unknown')
    )
  }

  /**
   * Counts one more split. Returns a random pause in milliseconds, which grows with each split in a
   * row.
   */
  #pauseMs(): number {
    this.#inARow += 1
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** this.#inARow, SPLIT_MS.most)
  }
}
