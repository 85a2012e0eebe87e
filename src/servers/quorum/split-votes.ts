import type { AcquireAnswer, HandOverAnswer, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { answersOf, isGranted, type Majority, mostOften, type Votes } from './majority.ts'

/** The limits of the pause after split votes, in milliseconds. */
const SPLIT_MS = { first: 5, most: 200 }

/** How often the wait for missing answers is doubled. */
const MOST_DOUBLINGS = 10

/** Evaluates votes for one lock that gave no client a majority. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row the votes were split. */
  #inARow = 0

  constructor(size: Majority) {
    this.#size = size
  }

  /** The refusal: when a majority may be free again, and if the votes were split. */
  held(votes: Votes<AcquireAnswer>): Held {
    const all = answersOf(votes).filter((answer): answer is Held => answer.kind === 'held')
    const ttls = all.map(({ ttlMs }) => (ttlMs < 0 ? Infinity : ttlMs)).sort((a, b) => a - b)
    // A majority is free when so many leases have ended that at most `spare` are left.
    const ttlMs = ttls[Math.max(0, ttls.length - this.#size.spare - 1)] ?? 0
    const holder = mostOften(all.map(({ holder = '' }) => holder))?.value ?? ''
    const held = { kind: 'held', ttlMs: ttlMs === Infinity ? -1 : ttlMs, holder } as const
    if (votes.some(isGranted)) {
      return { ...held, split: { pauseMs: this.#pauseMs() } }
    }
    this.over()
    return this.#isUnsure(votes) ? { ...held, split: {} } : held
  }

  /**
   * The majority freed the lock for others. With `split`, a minority may still have granted the
   * hand-over.
   */
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
   * Multiplies the wait for missing answers after split votes. At first it is 1, because the
   * masters may never answer and the wait keeps votes from other clients. It doubles each time,
   * because a majority may need exactly these masters.
   */
  get graceFactor(): number {
    return 2 ** Math.min(this.#inARow, MOST_DOUBLINGS)
  }

  /** A client got a majority. */
  over(): void {
    this.#inARow = 0
  }

  /** True if a master without an answer may have granted the lock, or may still grant it. */
  #isUnsure(votes: Votes<unknown>): boolean {
    return (
      votes.length < this.#size.all ||
      votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'unknown')
    )
  }

  /** A client that split the votes pauses for a random time, longer each time. */
  #pauseMs(): number {
    this.#inARow += 1
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** this.#inARow, SPLIT_MS.most)
  }
}
