import type { KindName } from '../../index.ts'

/** The kind of a hold decides which other holds it excludes. A fair lock is a lock. */
export type SpanKind = Exclude<KindName, 'fair'>

/**
 * How a hold ended. `released`, `lost` and `forced` were recorded. `seen`: the dashboard saw that
 * it was over. `unrecorded`: no end was recorded, for example because the process was killed.
 * `untold`: permits without a lease, whose end is never recorded.
 */
export type Ending = 'released' | 'lost' | 'forced' | 'seen' | 'unrecorded' | 'untold'

/** One hold, as the timeline draws it. All moments are in milliseconds since 1970. */
export interface Span {
  readonly owner: string
  readonly label: string | null
  readonly kind: SpanKind
  /** The fencing token; null if it is unknown. */
  readonly token: number | null
  readonly from: number
  /** Null if it has no end yet, or if no end is known. */
  readonly to: number | null
  /** The hold lasted at least until this moment. It ended between this moment and `to`. */
  readonly sureUntil: number
  /** Null if it is still held. */
  readonly ending: Ending | null
}

/** The facts about one hold. */
export interface Held {
  readonly owner: string
  readonly label: string | null
  readonly kind: SpanKind
  readonly token: number | null
  readonly from: number
  /** Its lease, in milliseconds; 0 if that is unknown. */
  readonly leaseMs: number
  /**
   * Its lease ends by this moment, unless `extend()` lengthens it. Infinity if the lease is renewed
   * or unknown.
   */
  readonly limitAt: number
  /** The end that was recorded or seen. */
  ended: { readonly at: number; readonly how: Ending } | null
  /**
   * When the next hold began that excludes this one; Infinity without such a hold. See `settle`.
   */
  nextFrom: number
  /** When the dashboard last saw it held; 0 if it never did. */
  seenUntil: number
  /** When the dashboard first saw that it is over. */
  goneBy: number | undefined
}

/** The dashboard's current knowledge about a hold that has no recorded end. */
export interface Knowledge {
  readonly now: number
  /** Says if the servers still name its owner as a holder. */
  readonly state: 'held' | 'gone' | 'unknown'
  /** The last moment at which its client or the dashboard showed that it was held. */
  readonly sureUntil: number
}

/** An entry reaches Redis at most this long after it was sent, so its time may be wrong by this. */
const INEXACT_MS = 2_000

/** A hold of the kind on the left is over when another owner has a hold of a kind on the right. */
const ENDED_BY: Readonly<Record<SpanKind, readonly SpanKind[]>> = {
  lock: ['lock', 'read', 'write', 'upgradable'],
  write: ['lock', 'read', 'write', 'upgradable'],
  upgradable: ['lock', 'write', 'upgradable'],
  read: ['lock', 'write'],
  permits: [],
  semaphore: [],
}

/**
 * Sorts the holds of one name by their tokens, and sets for each hold when the next hold ended it.
 */
export function settle(holds: Held[]): void {
  holds.sort(inOrder)
  const next = new Map<SpanKind, Held>()
  for (const held of holds.toReversed()) {
    held.nextFrom = Number.POSITIVE_INFINITY
    for (const kind of ENDED_BY[held.kind]) {
      const other = next.get(kind)
      // One owner may hold several kinds at once, such as the read lock and the write lock.
      const isBeside = kind !== held.kind && other !== undefined && isSameOwner(other, held)
      if (other !== undefined && !isBeside) held.nextFrom = Math.min(held.nextFrom, startOf(other))
    }
    next.set(held.kind, held)
  }
}

/** Readers have the token of the writer before them, so they come after that writer. */
function inOrder(a: Held, b: Held): number {
  const byToken = a.token === null || b.token === null ? 0 : a.token - b.token
  return byToken || Number(a.kind === 'read') - Number(b.kind === 'read') || a.from - b.from
}

/**
 * The times of two entries are inexact, so a hold may seem to begin shortly after the next one. It
 * began before.
 */
function startOf({ from, nextFrom }: Held): number {
  return from > nextFrom && from - nextFrom <= INEXACT_MS ? nextFrom : from
}

const isSameOwner = (a: Held, b: Held) => baseOf(a.owner) === baseOf(b.owner)

/** The owner without the suffix for a side of a read-write lock. */
const baseOf = (owner: string) => owner.replace(/:(write|upgradable)$/, '')

/**
 * Makes the span of a hold.
 *
 * @param knowledgeOf is called if the hold has no recorded end
 */
export function spanOf(held: Held, knowledgeOf: (held: Held) => Knowledge): Span {
  const { owner, label, kind, token, ended } = held
  const from = startOf(held)
  const end: End =
    kind === 'semaphore'
      ? { to: from, sureUntil: from, ending: 'untold' }
      : ended === null
        ? openEnd(held, knowledgeOf(held))
        : knownEnd(held, ended)
  return { owner, label, kind, token, from, ...end }
}

type End = Pick<Span, 'to' | 'sureUntil' | 'ending'>

function knownEnd(held: Held, { at, how }: NonNullable<Held['ended']>): End {
  const { leaseMs, nextFrom, seenUntil } = held
  const from = startOf(held)
  const sureUntil = how === 'seen' ? Math.max(from, seenUntil) : at
  const lateMs = at - nextFrom
  // The server confirmed this release. If it is long after the next begin, clocks do not explain
  // it, so the overlap is shown.
  if (lateMs <= 0 || (how === 'released' && lateMs > INEXACT_MS)) {
    return { to: at, sureUntil, ending: how }
  }
  const to = Math.max(from, nextFrom)
  // A holder that stalled records its loss when it continues. Its lease was over before.
  const sure = how === 'lost' && lateMs > INEXACT_MS ? from + leaseMs : sureUntil
  return { to, sureUntil: Math.min(to, sure), ending: how }
}

function openEnd(held: Held, knowledge: Knowledge): End {
  const { limitAt, nextFrom, goneBy } = held
  const { now, state, sureUntil } = knowledge
  const from = startOf(held)
  const hasNext = nextFrom < Number.POSITIVE_INFINITY
  if (state === 'held' && !hasNext) return { to: null, sureUntil: now, ending: null }
  const ends = [nextFrom, limitAt <= now ? limitAt : Number.POSITIVE_INFINITY]
  if (state === 'gone') ends.push(goneBy ?? now)
  const end = Math.max(from, Math.min(...ends))
  const to = Number.isFinite(end) ? end : null
  const sure = Math.min(Math.max(from, sureUntil), to ?? now)
  return { to, sureUntil: sure, ending: 'unrecorded' }
}
