import type {
  AcquireAnswer,
  Gone,
  Granted,
  HandOverAnswer,
  HeartbeatAnswer,
  LockFacts,
  QueueAnswer,
  ReenterAnswer,
  Released,
} from '../answers.ts'
import { CallFailure, OddAnswer, shown } from '../call-failure.ts'

/*
 * What the scripts answer, as their headers have it. Each of these throws at anything else, which
 * whoever ran the script makes an {@link OddAnswer} of: a proxy, or a server that is none, may
 * answer what it likes, and the script may have run all the same.
 */

/** What `acquire` answered to a first acquisition. */
export function grantOf(reply: unknown): AcquireAnswer {
  const [kind] = reply as unknown[]
  if (kind === 'granted') return grantedOf(reply)
  if (kind === 'held') return { kind, ttlMs: whole(only(reply, 2)[1], -1) }
  throw odd(reply)
}

/** A master of several that may not vote before that time; null when it was not told since when. */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

/** What `vote` answered to a first acquisition. */
export function voteOf(reply: unknown): AcquireAnswer | Forgot {
  const [kind, sinceUs] = reply as unknown[]
  if (kind !== 'forgot') return grantOf(reply)
  only(reply, 2)
  return { kind, sinceUs: sinceUs === '' ? null : whole(sinceUs) }
}

/** What `acquire` and `vote` answered to a re-entry. */
export function reentryOf(reply: unknown): ReenterAnswer {
  const [kind, token] = reply as unknown[]
  if (kind === 'gone') return goneOf(reply)
  // A repeat of one that was a first acquisition is told the token.
  if (kind !== 'granted' || token !== '') return grantedOf(reply)
  only(reply, 2)
  return { kind, token: 0 }
}

/** What `handOver` answered where the lock was to stay in the client. */
export function handedOverOf(reply: unknown): Granted | Gone {
  const [kind] = reply as unknown[]
  return kind === 'gone' ? goneOf(reply) : grantedOf(reply)
}

/** What `handOver` answered where others were to have it. */
export function handedOverOrYieldedOf(reply: unknown): HandOverAnswer {
  const [kind, others] = reply as unknown[]
  if (kind !== 'yielded') return handedOverOf(reply)
  only(reply, 2)
  return { kind, others: whole(others, 1) }
}

/** What `acquireFair` answered to one who tries once. */
export function fairTryOf(reply: unknown): QueueAnswer {
  const [kind] = reply as unknown[]
  return kind === 'granted' ? grantedOf(only(reply, 2)) : grantOf(reply)
}

/** What `acquireFair` answered to one who waits. */
export function fairGrantOf(reply: unknown): QueueAnswer {
  const [kind, ticket, last, ttlMs, first] = reply as unknown[]
  if (kind === 'granted') return grantedOf(only(reply, 2))
  if (kind !== 'queued') throw odd(reply)
  only(reply, 5)
  return {
    kind,
    ticket: String(whole(ticket, 1)),
    lastToken: last === '' ? 0 : whole(last),
    ttlMs: whole(ttlMs, -1),
    first: whole(first) === 1,
  }
}

/** What `heartbeat` answered: for each lock what is to be known, or the server's words. */
export function beatsOf(reply: unknown, locks: number): (HeartbeatAnswer | string)[] {
  const [kind, answers] = only(reply, 2)
  if (kind !== 'done') throw odd(reply)
  return only(answers, locks).map((answer) => {
    const [ttlMs, last, first, granted, missing] = answer as unknown[]
    if (last === undefined) return text(only(answer, 1)[0])
    only(answer, 5)
    return {
      ttlMs: whole(ttlMs, -2),
      lastToken: last === '' ? 0 : whole(last),
      first: String(first),
      granted: String(granted),
      missing: whole(missing),
    }
  })
}

/** What `release` answered where the lock was to be freed. */
export function freedOf(reply: unknown): Released {
  const [kind, listeners] = reply as unknown[]
  if (kind === 'gone') return goneOf(reply)
  if (kind !== 'freed') throw odd(reply)
  only(reply, 2)
  return { kind, listeners: whole(listeners) }
}

/** What `release` answered where its count was to be lowered. */
export function keptOf(reply: unknown): Released {
  const [kind] = reply as unknown[]
  if (kind === 'gone') return goneOf(reply)
  if (kind !== 'kept') throw odd(reply)
  only(reply, 1)
  return { kind }
}

/** What `releaseFair` answered this client. */
export function fairReleasedOf(reply: unknown, clientId: string): Released {
  const [kind, follower, token] = reply as unknown[]
  if (kind !== 'granted') return freedOf(reply)
  only(reply, 3)
  const owner = text(follower)
  const own = owner.startsWith(`${clientId}:`)
  return { kind: 'freed', listeners: 0, following: { owner, token: whole(token, 1), own } }
}

/** What `agree` and `forceRelease` answered. */
export function yesOrNo(reply: unknown): boolean {
  const answer = whole(reply)
  if (answer > 1) throw odd(reply)
  return answer === 1
}

/** What `renew` answered: for each lock what is left of its lease, or that it made no sense. */
export function leftOf(reply: unknown, leases: number): (number | CallFailure)[] {
  return only(reply, leases).map((left) =>
    isWhole(left) && Number(left) >= -2 ? Number(left) : new OddAnswer('renew', left),
  )
}

/** What `inspect` answered; nobody waits where it was not asked who does. */
export function lockFacts(reply: unknown): LockFacts {
  const [holder, holds, ttl, token, ...waiters] = reply as unknown[]
  only(reply, waiters.length === 0 ? 4 : 9)
  const [listeners = 0, nowUs = 0, queue = [], waiting = [], length = 0] = waiters
  const marks = new Map(pairs(waiting))
  const entries = pairs(queue).map(([owner, ticket]) => {
    const [, untilMs, process] = /^(\d+) \d (.*)$/s.exec(marks.get(clientOf(owner)) ?? '') ?? []
    const alive = Number(untilMs) * 1_000 >= whole(nowUs)
    const waitedMs = Math.max(0, Math.round((whole(nowUs) - Number(ticket)) / 1_000))
    return { owner, process: alive ? (process ?? '') : null, waitedMs }
  })
  const ttlMs = whole(ttl, -2)
  return {
    holder: holder === '' ? null : text(holder),
    holdCount: whole(holds),
    ttlMs: ttlMs < 0 ? null : ttlMs,
    token: token === '' ? null : whole(token),
    waiters: Math.max(whole(listeners), new Set(entries.map(({ owner }) => clientOf(owner))).size),
    queue: entries,
    queueLength: whole(length),
  }
}

function clientOf(wireOwner: string): string {
  return wireOwner.slice(0, wireOwner.indexOf(':'))
}

/** RESP2 has a flat list, and RESP3 may have pairs. */
function pairs(list: unknown): [string, string][] {
  const flat = (list as unknown[]).flat()
  if (flat.length % 2 !== 0) throw odd(list)
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    String(flat[2 * i]),
    String(flat[2 * i + 1]),
  ])
}

export function grantedOf(reply: unknown): Granted {
  const { length, 0: kind, 1: detail, 2: reserve } = reply as unknown[]
  if (kind !== 'granted' || length > 3) throw odd(reply)
  const token = whole(detail, 1)
  const reserved = length === 3 ? whole(reserve) : 0
  if (reserved >= token) throw odd(reply)
  return { kind, token, reserved }
}

function goneOf(reply: unknown): Gone {
  only(reply, 1)
  return { kind: 'gone' }
}

/** The list, of so many parts. */
export function only(reply: unknown, parts: number): readonly unknown[] {
  if (!Array.isArray(reply) || reply.length !== parts) throw odd(reply)
  return reply
}

/** A whole number, also as a string; not below the least. */
export function whole(value: unknown, least = 0): number {
  const number = Number(value)
  if (!isWhole(value) || number < least) throw odd(value)
  return number
}

function isWhole(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value === 'string' && value !== '' && Number.isSafeInteger(Number(value))
}

export function text(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw odd(value)
  return value
}

function odd(value: unknown): Error {
  return new TypeError(`${shown(value)} makes no sense`)
}

/** What was read goes on, and a failure; whatever else was thrown at it did not make sense. */
export function readOr<T>(script: string, reply: unknown, read: (reply: unknown) => T): T {
  try {
    return read(reply)
  } catch (error) {
    throw error instanceof CallFailure ? error : new OddAnswer(script, reply)
  }
}
