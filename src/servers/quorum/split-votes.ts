import type { AcquireAnswer, HandOverAnswer, Held, Yielded } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { answersOf, isGranted, type Majority, mostOften, type Votes } from './majority.ts'

/** The limits of the pause after split votes, in milliseconds. */
const SPLIT_MS = { first: 5, most: 200 }

/** The wait for missing answers is doubled at most this often. */
const MOST_DOUBLINGS = 10

/** Evaluates votes for one lock that gave no client a majority. */
export class SplitVotes {
  readonly #size: Majority
  /** How often in a row the votes were split. */
  #inARow = 0

  constructor(size: Majority) {
    this.#size = size
  }

  /** Makes the refusal: when a majority may be free again, and if the votes were split. */
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
   * Makes the answer for a hand-over when a majority freed the lock for other clients. With
   * `split`, a minority may still have granted the hand-over.
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
   * The factor of the wait for missing answers, after split votes. At first it is 1, because the
   * masters may never answer, and a waiting client keeps its votes from others. It doubles each
   * time, because a majority may need exactly these masters.
   */
  get graceFactor(): number {
    return 2 ** Math.min(this.#inARow, MOST_DOUBLINGS)
  }

  /** Called when a client got a majority. */
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

  /** The pause of a client that split the votes: a random time, which grows each time. */
  #pauseMs(): number {
    this.#inARow += 1
    return Math.random() * Math.min(SPLIT_MS.first * 2 ** this.#inARow, SPLIT_MS.most)
  }
}
