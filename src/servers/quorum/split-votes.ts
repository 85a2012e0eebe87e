import type { AcquireAnswer, HandOverAnswer, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { answersOf, isGranted, type Majority, mostOften, type Votes } from './majority.ts'

/**
 * After split votes, the client pauses for a random time up to a limit, in milliseconds. The limit
 * is `first`, doubled for each split in a row, but not more than `most`.
 */
const SPLIT_MS = { first: 5, most: 200 }

/** The wait for missing answers is doubled at most this many times. */
const MOST_DOUBLINGS = 10

/** Makes the refusals of requests without a majority, and counts the splits in a row. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row the votes were split. */
  #inARow = 0

  constructor(size: Majority) {
    this.#size = size
  }

  /**
   * Makes the refusal. `ttlMs` is the time until a majority of masters may be free. Sets `split` if
   * a master may have granted the lock.
   */
  held(votes: Votes<AcquireAnswer>): Held {
    const all = answersOf(votes).filter((answer): answer is Held => answer.kind === 'held')
    const ttls = all.map(({ ttlMs }) => ttlMs).sort((a, b) => a - b)
    // A majority is free when leases are left on at most `spare` masters.
    const ttlMs = ttls[Math.max(0, ttls.length - this.#size.spare - 1)] ?? 0
    const holder = mostOften(all.map(({ holder = '' }) => holder))?.value ?? ''
    const held = { kind: 'held', ttlMs, holder } as const
    if (votes.some(isGranted)) {
      return { ...held, split: { pauseMs: this.#pauseMs() } }
    }
    this.reset()
    return this.#isUnsure(votes) ? { ...held, split: {} } : held
  }

  /**
   * Makes the answer to a hand-over if some masters freed the lock for other clients. Sets `split`
   * if a master may have granted the hand-over.
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
   * The factor for the wait for missing answers. It starts at 1, because other clients cannot get
   * the votes of this client during the wait. It doubles with each split in a row, because a
   * majority may need the missing answers.
   */
  get graceFactor(): number {
    return 2 ** Math.min(this.#inARow, MOST_DOUBLINGS)
  }

  /** Called when votes were not split: the next pause is short again. */
  reset(): void {
    this.#inARow = 0
  }

  /** True if a master without an answer may have granted the lock, or may still grant it. */
  #isUnsure(votes: Votes<unknown>): boolean {
    return (
      votes.length < this.#size.all ||
      votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'unknown')
    )
  }

  /** Counts one more split, and returns a random pause, in milliseconds. See `SPLIT_MS`. */
  #pauseMs(): number {
    this.#inARow += 1
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** this.#inARow, SPLIT_MS.most)
  }
}
