/** What an acquire or a hand-over was answered. */
export type Grant =
  | {
      readonly kind: 'granted'
      readonly token: number
      /** So many tokens below that one are the owner's too. */
      readonly reserved?: number
    }
  | Held
  | Yielded
  | Queued
  | { readonly kind: 'gone' }
  | Forgot

/** What the scripts `acquire`, `vote` and `handOver` answered. */
export function grantOf([kind, detail, reserved]: readonly unknown[]): Grant {
  if (kind === 'granted') return { kind, token: Number(detail), reserved: Number(reserved ?? 0) }
  if (kind === 'held') return { kind, ttlMs: Number(detail) }
  if (kind === 'yielded') return { kind, others: Number(detail) }
  if (kind === 'forgot') return { kind, sinceUs: detail === '' ? null : Number(detail) }
  return { kind: 'gone' }
}

/** What the script `acquireFair` answered. */
export function fairGrantOf(answer: readonly unknown[]): Grant {
  const [kind, ticket, last, ttlMs, first] = answer
  if (kind !== 'queued') return grantOf(answer)
  return {
    kind,
    ticket: String(ticket),
    lastToken: Number(last),
    ttlMs: Number(ttlMs),
    first: Number(first) === 1,
  }
}

/** A master of several that may not vote before that time; null when it was not told since when. */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

/** The lock is free, and so many others who listen have been woken. */
export interface Yielded {
  readonly kind: 'yielded'
  readonly others: number
  /** As with `Held`: the name is not to be used again. */
  readonly split?: { readonly unsure: boolean }
}

/** Somebody else has the lock. */
export interface Held {
  readonly kind: 'held'
  readonly ttlMs: number
  /** Set where the server was not asked. */
  readonly unasked?: true
  /** Where some of several masters granted it, or may have, but no majority. */
  readonly split?: {
    /** How long to pause before asking again, in milliseconds; undefined when others have it. */
    readonly pauseMs?: number
    /** Whether a request of this attempt may yet be granted somewhere. */
    readonly unsure: boolean
  }
}

/** A place in the queue of a fair lock. */
export interface Queued {
  readonly kind: 'queued'
  readonly ticket: string
  /** The token of whoever has the lock; 0 when it is lost. */
  readonly lastToken: number
  /** What is left of that one's lease in milliseconds; -1 when it has no expiry. */
  readonly ttlMs: number
  /** Whether nobody else is before it. */
  readonly first: boolean
}

/** Who has a fair lock after it was let go. */
export interface Following {
  readonly owner: string
  readonly token: number
  /** Whether it is of this client, and learns it from nobody else. */
  readonly own: boolean
}

/** What a release was answered. */
export type Released =
  | { readonly kind: 'freed'; readonly listeners: number; readonly following?: Following }
  | { readonly kind: 'kept' }
  | { readonly kind: 'gone' }

/** What the script `release` answered. */
export function releasedOf([kind, listeners]: readonly unknown[]): Released {
  if (kind === 'freed') return { kind, listeners: Number(listeners) }
  return { kind: kind as 'kept' | 'gone' }
}

/** What the script `releaseFair` answered this client. */
export function fairReleasedOf(answer: readonly unknown[], clientId: string): Released {
  const [kind, follower, token] = answer
  if (kind !== 'granted') return releasedOf(answer)
  const owner = String(follower)
  const own = owner.startsWith(`${clientId}:`)
  return { kind: 'freed', listeners: 0, following: { owner, token: Number(token), own } }
}

/** So many of those who queue are listed: while it makes a long list the server does nothing else. */
export const MOST_LISTED = 1_000

/** One lock as the server sees it. */
export interface LockFacts {
  /** `<clientId>:<owner>`, or null when the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null when the lock is free or never expires. */
  readonly ttlMs: number | null
  /**
   * The last fencing token issued, or null when none is remembered; while several calls of one client
   * wait, up to 63 more than that of the holder.
   */
  readonly token: number | null
  /** How many clients have somebody who waits, at least: for a release, or in the queue. */
  readonly waiters: number
  /** Those who wait in turn, with `getFairLock`: the next one first, and no more than 1,000. */
  readonly queue: readonly QueueEntry[]
  /** How many wait in turn. */
  readonly queueLength: number
}

/** Somebody who waits for a fair lock. */
export interface QueueEntry {
  /** `<clientId>:<owner>` */
  readonly owner: string
  /** The `label` of its client; null for a client that is taken for dead. */
  readonly process: string | null
  /** Since when it queues, by the clock of the server, in milliseconds. */
  readonly waitedMs: number
}

type InspectReply = [
  holder: string,
  holds: string,
  ttlMs: number,
  token: string,
  listeners: number,
  nowUs: string,
  queue: string[],
  waiting: string[],
  length: number,
]

/** What the script `inspect` answered; nobody waits where it was not asked who does. */
export function lockFacts(reply: unknown): LockFacts {
  const [holder, holds, ttlMs, token, ...waiters] = reply as InspectReply
  const [listeners = 0, nowUs = '0', queue = [], waiting = [], queueLength = 0] = waiters
  const marks = new Map(pairs(waiting))
  const entries = pairs(queue).map(([owner, ticket]) => {
    const [, untilMs, process] = /^(\d+) \d (.*)$/s.exec(marks.get(clientOf(owner)) ?? '') ?? []
    const alive = Number(untilMs) * 1_000 >= Number(nowUs)
    const waitedMs = Math.max(0, Math.round((Number(nowUs) - Number(ticket)) / 1_000))
    return { owner, process: alive ? (process ?? '') : null, waitedMs }
  })
  return {
    holder: holder === '' ? null : holder,
    holdCount: Number(holds),
    ttlMs: Number(ttlMs) < 0 ? null : Number(ttlMs),
    token: token === '' ? null : Number(token),
    waiters: Math.max(Number(listeners), new Set(entries.map(({ owner }) => clientOf(owner))).size),
    queue: entries,
    queueLength: Number(queueLength),
  }
}

function clientOf(wireOwner: string): string {
  return wireOwner.slice(0, wireOwner.indexOf(':'))
}

/** RESP2 has a flat list, and RESP3 may have pairs. */
function pairs(list: readonly (string | readonly string[])[]): [string, string][] {
  const flat = list.flat()
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    String(flat[2 * i]),
    String(flat[2 * i + 1]),
  ])
}

/** Which lock is to be renewed, for whom. */
export interface Seat {
  /** What a master that lost it is given back. */
  readonly holds?: number
  readonly token?: number
  /** Whether it is to be given back still. */
  readonly isHeld?: () => boolean
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}
