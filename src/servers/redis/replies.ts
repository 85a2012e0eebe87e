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
import * as fair from './scripts/fair.generated.ts'
import * as lock from './scripts/lock.generated.ts'
import { readVote } from './scripts/quorum.generated.ts'
import { odd } from './scripts/reading.ts'

/*
 * What the scripts answer is read as their headers have it; this is what it means to those who asked, who
 * may not be answered all that a script can say. Each of these throws at anything else, which whoever ran
 * the script makes an {@link OddAnswer} of: the script may have run all the same.
 */

/** What `acquire` answered to a first acquisition. */
export function grantOf(reply: unknown): AcquireAnswer {
  const answer = lock.readAcquire(reply)
  if (answer.kind === 'gone') throw odd()
  return answer.kind === 'held' ? answer : sound(answer)
}

/** A master of several that may not vote before that time; null when it was not told since when. */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

/** What `vote` answered to a first acquisition. */
export function voteOf(reply: unknown): AcquireAnswer | Forgot {
  const answer = readVote(reply)
  if (answer.kind === 'gone') throw odd()
  return answer.kind === 'granted' ? sound(answer) : answer
}

/** What `acquire` and `vote` answered to a re-entry. */
export function reentryOf(reply: unknown): ReenterAnswer {
  const answer = lock.readAcquire(reply)
  if (answer.kind === 'held') throw odd()
  if (answer.kind === 'gone') return answer
  // A repeat of one that was a first acquisition is told the token.
  return answer.token === 0 && answer.reserved === 0 ? answer : sound(answer)
}

/** What `handOver` answered where the lock was to stay in the client. */
export function handedOverOf(reply: unknown): Granted | Gone {
  const answer = handedOverOrYieldedOf(reply)
  if (answer.kind === 'yielded') throw odd()
  return answer
}

/** What `handOver` answered where others were to have it. */
export function handedOverOrYieldedOf(reply: unknown): HandOverAnswer {
  const answer = lock.readHandOver(reply)
  return answer.kind === 'granted' ? sound(answer) : answer
}

/** What `acquire` of the fair lock answered to one who tries once. */
export function fairTryOf(reply: unknown): QueueAnswer {
  const answer = fair.readAcquire(reply)
  if (answer.kind === 'queued') throw odd()
  return answer
}

/** What `acquire` of the fair lock answered to one who waits. */
export function fairGrantOf(reply: unknown): QueueAnswer {
  const answer = fair.readAcquire(reply)
  if (answer.kind === 'held') throw odd()
  return answer
}

/** What `heartbeat` answered: for each lock what is to be known, or the server's words. */
export function beatsOf(reply: unknown, locks: number): (HeartbeatAnswer | string)[] {
  const { answers } = fair.readHeartbeat(reply)
  if (answers.length !== locks) throw odd()
  return answers
}

/** What `release` answered where the lock was to be freed. */
export function freedOf(reply: unknown): Released {
  const answer = lock.readRelease(reply)
  if (answer.kind === 'kept') throw odd()
  return answer
}

/** What `release` answered where its count was to be lowered. */
export function keptOf(reply: unknown): Released {
  const answer = lock.readRelease(reply)
  if (answer.kind === 'freed') throw odd()
  return answer
}

/** What `release` of the fair lock answered this client. */
export function fairReleasedOf(reply: unknown, clientId: string): Released {
  const answer = fair.readRelease(reply)
  if (answer.kind !== 'granted') return answer
  const { owner, token } = answer
  const own = clientOf(owner) === clientId
  return { kind: 'freed', listeners: 0, following: { owner, token, own } }
}

/** What `peek` answered. */
export function holderFacts(reply: unknown): HolderFacts {
  return factsOf(lock.readPeek(reply))
}

function factsOf({ holder, holds, ttlMs, token }: lock.PeekReply): HolderFacts {
  return { holder, holdCount: holds, ttlMs: ttlMs < 0 ? null : ttlMs, token }
}

/** What `inspect` answered. */
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

/** There are tokens below it to be given away. */
function sound<G extends { readonly token: number; readonly reserved: number }>(granted: G): G {
  if (granted.reserved >= granted.token) throw odd()
  return granted
}
