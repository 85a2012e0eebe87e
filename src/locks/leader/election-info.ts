import type { HolderFacts, LockFacts, QueueEntry } from '../../servers/answers.ts'
import { labelIn } from './candidate-label.ts'

/** The leader, according to Redis. */
export interface LeaderInfo {
  /** The label of the candidate; null if the lock was acquired with `getLock`, with `getFairLock`, or by Redisson. */
  readonly label: string | null
  /** The owner as Redis stores it: `<clientId>:<owner>`. Each term has its own owner. */
  readonly owner: string
  /** The fencing token of the term; null if the server has lost it. */
  readonly token: number | null
  /** The remaining time of the lease, without a renewal, in milliseconds; null if the lock has no expiry. */
  readonly ttlMs: number | null
}

/** A candidate that waits to lead. */
export interface CandidateInfo {
  /** Its label; null for a waiter of `getFairLock` with the same name. */
  readonly label: string | null
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The `label` of its client; null if the client is considered dead. */
  readonly process: string | null
  /** How long it has waited by the clock of the server, in milliseconds. */
  readonly waitedMs: number
}

/** An election according to Redis. */
export interface ElectionInfo {
  /** Null if there is no leader. */
  readonly leader: LeaderInfo | null
  /** The candidates that wait to lead, at most 1,000: the next one first. */
  readonly candidates: readonly CandidateInfo[]
  /** How many candidates wait to lead. */
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
