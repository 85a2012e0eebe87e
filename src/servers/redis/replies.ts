import {
  type AcquireAnswer,
  clientOf,
  type Gone,
  type Granted,
  type HandOverAnswer,
  type HeartbeatAnswer,
  type HolderFacts,
  type LockFacts,
  type QueueAnswer,
  type ReenterAnswer,
  type Released,
} from '../answers.ts'
import { endsInMs, shownTtlMs } from '../remaining.ts'
import * as fair from './scripts/fair.generated.ts'
import * as lock from './scripts/lock.generated.ts'
import { readVote } from './scripts/quorum.generated.ts'
import { odd } from './scripts/reading.ts'

/*
 * The generated readers check the format of answers. These functions convert them to the answers of
 * the port, and reject answers that the caller of a request cannot get. Each throws at an invalid
 * answer, which the script runner reports as an {@link OddAnswer}, because the script may have run.
 */

/** Reads the answer of `acquire` to a first acquisition. */
export function grantOf(reply: unknown): AcquireAnswer {
  const answer = lock.readAcquire(reply)
  if (answer.kind === 'gone') throw odd()
  return answer.kind === 'held' ? answer : sound(answer)
}

/**
 * The answer of a master that may not vote yet. It votes from `sinceUs` on, server time in µs. If
 * `sinceUs` is null, the master must be enrolled first.
 */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

/** Reads the answer of `vote` to a first acquisition. */
export function voteOf(reply: unknown): AcquireAnswer | Forgot {
  const answer = readVote(reply)
  if (answer.kind === 'gone') throw odd()
  return answer.kind === 'granted' ? sound(answer) : answer
}

/** Reads the answer of `acquire` or `vote` to a re-entry. */
export function reentryOf(reply: unknown): ReenterAnswer {
  const answer = lock.readAcquire(reply)
  if (answer.kind === 'held') throw odd()
  if (answer.kind === 'gone') return answer
  // Only the answer to the repeat of a first acquisition has a token.
  return answer.token === 0 && answer.reserved === 0 ? answer : sound(answer)
}

/** Reads the answer of `handOver` that keeps the lock in the client. */
export function handedOverOf(reply: unknown): Granted | Gone {
  const answer = handedOverOrYieldedOf(reply)
  if (answer.kind === 'yielded') throw odd()
  return answer
}

/** Reads the answer of `handOver` that may free the lock for other clients. */
export function handedOverOrYieldedOf(reply: unknown): HandOverAnswer {
  const answer = lock.readHandOver(reply)
  return answer.kind === 'granted' ? sound(answer) : answer
}

/** Reads the answer of `acquire` of the fair lock to a call that does not queue. */
export function fairTryOf(reply: unknown): QueueAnswer {
  const answer = fair.readAcquire(reply)
  if (answer.kind === 'queued') throw odd()
  return answer
}

/** Reads the answer of `acquire` of the fair lock to a call that queues. */
export function fairGrantOf(reply: unknown): QueueAnswer {
  const answer = fair.readAcquire(reply)
  if (answer.kind === 'held') throw odd()
  return answer
}

/** Reads the answer of `heartbeat`: for each lock its state, or the error of the server. */
export function beatsOf(reply: unknown, locks: number): (HeartbeatAnswer | string)[] {
  const { answers } = fair.readHeartbeat(reply)
  if (answers.length !== locks) throw odd()
  return answers.map((one) =>
    typeof one === 'string' ? one : { ...one, ttlMs: endsInMs(one.ttlMs) },
  )
}

/** Reads the answer of `release` that frees the lock. */
export function freedOf(reply: unknown): Released {
  const answer = lock.readRelease(reply)
  if (answer.kind === 'kept') throw odd()
  return answer
}

/** Reads the answer of `release` that lowers the count. */
export function keptOf(reply: unknown): Released {
  const answer = lock.readRelease(reply)
  if (answer.kind === 'freed') throw odd()
  return answer
}

/** Reads the answer of `release` of the fair lock. */
export function fairReleasedOf(reply: unknown, clientId: string): Released {
  const answer = fair.readRelease(reply)
  if (answer.kind !== 'granted') return answer
  const { owner, token } = answer
  const own = clientOf(owner) === clientId
  return { kind: 'freed', listeners: 0, following: { owner, token, own } }
}

export function holderFacts(reply: unknown): HolderFacts {
  return factsOf(lock.readPeek(reply))
}

function factsOf({ holder, holds, ttlMs, token }: lock.PeekReply): HolderFacts {
  return { holder, holdCount: holds, ttlMs: shownTtlMs(ttlMs), token }
}

export function lockFacts(reply: unknown): LockFacts {
  const facts = lock.readInspect(reply)
  const { listeners, nowUs, queue, waiting, length } = facts
  const marks = new Map(waiting)
  const entries = queue.map(([owner, ticket]) => {
    const [, untilMs, process] = /^(\d+) \d (.*)$/s.exec(marks.get(clientOf(owner)) ?? '') ?? []
    const alive = Number(untilMs) * 1_000 >= nowUs
    const waitedMs = Math.max(0, Math.round((nowUs - Number(ticket)) / 1_000))
    return { owner, process: alive ? (process ?? '') : null, waitedMs }
  })
  return {
    ...factsOf(facts),
    waiters: Math.max(listeners, new Set(entries.map(({ owner }) => clientOf(owner))).size),
    queue: entries,
    queueLength: length,
  }
}

/** Throws unless all reserved tokens below the token are above 0. */
function sound<G extends { readonly token: number; readonly reserved: number }>(granted: G): G {
  if (granted.reserved >= granted.token) throw odd()
  return granted
}
