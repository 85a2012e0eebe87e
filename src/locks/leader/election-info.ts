import type { HolderFacts, LockFacts, QueueEntry } from '../../servers/answers.ts'
import { labelIn } from './candidate-label.ts'

/** Who leads, as its place knows it. */
export interface LeaderInfo {
  /** The label of the candidate; null for one who has the lock of that name by `getLock` or `getFairLock`, or in Java. */
  readonly label: string | null
  /** `<clientId>:<owner>`: another one for each term. */
  readonly owner: string
  /** The fencing token of the term; null when the server has lost it. */
  readonly token: number | null
  /** What is left of the lease of the term unless it is renewed, in milliseconds; null without an expiry. */
  readonly ttlMs: number | null
}

/** Somebody who waits to lead. */
export interface CandidateInfo {
  /** Its label; null for one who waits for the lock of that name by `getFairLock`. */
  readonly label: string | null
  /** `<clientId>:<owner>` */
  readonly owner: string
  /** The `label` of its client; null for a client that is taken for dead. */
  readonly process: string | null
  /** Since when it waits, by the clock of the server, in milliseconds. */
  readonly waitedMs: number
}

/** An election as its place knows it. */
export interface ElectionInfo {
  /** Null when nobody leads. */
  readonly leader: LeaderInfo | null
  /** Those who wait to lead: the next one first, and no more than 1,000. */
  readonly candidates: readonly CandidateInfo[]
  /** How many wait to lead. */
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
