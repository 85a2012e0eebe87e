import type { HolderFacts, LockFacts, QueueEntry } from '../../servers/facts.ts'
import { labelIn } from '../../servers/owner-id.ts'

/** The holder of the election's lock, according to Redis. */
export interface LeaderInfo {
  /**
   * The label of the candidate. Null if the holder is not a candidate: `getLock`, `getFairLock` or Redisson acquired
   * the lock.
   */
  readonly label: string | null
  /** The owner id in Redis: `<clientId>:<owner>`. Each term has its own owner. */
  readonly owner: string
  /** The fencing token of the term; null if the server has lost the counter of the tokens. */
  readonly token: number | null
  /** The time until the lease ends without a renewal, in milliseconds; null if the lock has no expiry. */
  readonly ttlMs: number | null
}

/** A candidate that waits to lead. */
export interface CandidateInfo {
  /** The label of the candidate; null for a waiter of `getFairLock` with the same name. */
  readonly label: string | null
  /** The owner id in Redis: `<clientId>:<owner>`. */
  readonly owner: string
  /** The `label` of the candidate's client; null if the server considers the client dead. */
  readonly process: string | null
  /** How long the candidate has waited, by the clock of the server, in milliseconds. */
  readonly waitedMs: number
}

/** The state of an election, according to Redis. */
export interface ElectionInfo {
  /** The holder of the election's lock; null if the lock is free. */
  readonly leader: LeaderInfo | null
  /** The candidates that wait to lead, at most 1,000. The first candidate whose client is alive leads next. */
  readonly candidates: readonly CandidateInfo[]
  /** How many candidates wait to lead. May be more than the length of `candidates`. */
  readonly candidateCount: number
}

export function leaderIn({ holder, token, ttlMs }: HolderFacts): LeaderInfo | null {
  return holder === null ? null : { label: labelIn(holder), owner: holder, token, ttlMs }
}

export function electionIn(facts: LockFacts): ElectionInfo {
  return {
    leader: leaderIn(facts),
    candidates: facts.queue.map(candidateOf),
    candidateCount: facts.queueLength,
  }
}

function candidateOf({ owner, process, waitedMs }: QueueEntry): CandidateInfo {
  return { label: labelIn(owner), owner, process, waitedMs }
}
