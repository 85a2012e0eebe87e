import type { KindName } from '../../../src/index.ts'
import { holdViewOf } from '../../kinds/all.ts'
import { withoutSide } from '../../kinds/sides.ts'

/**
 * How a hold ended. The history records `released`, `lost` and `forced`.
 *
 * - `seen`: the dashboard saw that the hold had ended;
 * - `unrecorded`: no end was recorded or seen, for example because the process was killed. The hold
 *   may even still last;
 * - `untold`: permits without a lease. The history never records their end.
 */
export type Ending = 'released' | 'lost' | 'forced' | 'seen' | 'unrecorded' | 'untold'

/** One hold, as the timeline draws it. All moments are in milliseconds since 1970. */
export interface Span {
  readonly owner: string
  readonly label: string | null
  /** The kind of the hold. A fair lock counts as a lock. */
  readonly kind: KindName
  /** The token of the hold. Null if the token is unknown. */
  readonly token: number | null
  readonly from: number
  /**
   * The latest possible end of the hold. Null if the hold has not ended, or if its end is unknown.
   * If the end is `untold`, this is the start of the hold.
   */
  readonly to: number | null
  /**
   * The hold certainly lasted until this moment. If it has ended, it ended at `to` or before. If the
   * end is `untold`, this moment and `to` are the start of the hold.
   */
  readonly sureUntil: number
  /** How the hold ended. Null if the hold still lasts. */
  readonly ending: Ending | null
}

/** One hold, from the history or from the poll. */
export interface TimelineHold {
  readonly owner: string
  readonly label: string | null
  /** The kind of the hold. A fair lock counts as a lock. */
  readonly kind: KindName
  readonly token: number | null
  readonly from: number
  /** The lease of the hold, in milliseconds. 0 if unknown. */
  readonly leaseMs: number
  /**
   * The latest end of the lease if `extend()` does not lengthen the lease. Infinity if there is no
   * such limit, or if the limit is unknown.
   */
  readonly limitAt: number
  /** When and how the hold ended, as recorded or seen. Null if no end was recorded or seen. */
  ended: { readonly at: number; readonly how: Ending } | null
  /**
   * The start of the next hold that cannot exist at the same time as this hold. Infinity without
   * such a hold. Set by `sortAndLink`.
   */
  nextFrom: number
  /**
   * When the poll last saw this hold. 0 while the poll still finds the hold, and for holds of the
   * history.
   */
  seenUntil: number
  /** When the dashboard first found that this hold had ended. Undefined before that. */
  goneBy: number | undefined
}

/** The dashboard's knowledge about a hold without a recorded end. */
export interface Knowledge {
  readonly now: number
  /**
   * `held`: the servers name the owner as a holder. `gone`: the hold has ended. `unknown`: the hold
   * may have ended.
   */
  readonly state: 'held' | 'gone' | 'unknown'
  /** The client or the poll showed that the hold still lasted at this moment. */
  readonly sureUntil: number
}

/**
 * The time of an entry is assumed to be at most this much too late, in milliseconds. An entry may
 * reach Redis late.
 */
const INEXACT_MS = 2_000

/**
 * Sorts the holds of one name by their tokens, or by their starts if a token is unknown. Sets
 * `nextFrom` of each hold to the start of the next hold that cannot exist at the same time as this
 * hold.
 */
export function sortAndLink(holds: TimelineHold[]): void {
  holds.sort(inOrder)
  const next = new Map<KindName, TimelineHold>()
  for (const held of holds.toReversed()) {
    held.nextFrom = Number.POSITIVE_INFINITY
    for (const kind of holdViewOf(held.kind).endedBy) {
      const other = next.get(kind)
      // One owner may have several kinds of holds at once, such as the read lock and the write
      // lock. Such holds do not end each other.
      const isBeside = kind !== held.kind && other !== undefined && isSameOwner(other, held)
      if (other !== undefined && !isBeside) held.nextFrom = Math.min(held.nextFrom, startOf(other))
    }
    next.set(held.kind, held)
  }
}

/**
 * Compares two holds by their tokens, and then by their starts. Readers have the same token as the
 * writer before them, so readers come after this writer.
 */
function inOrder(a: TimelineHold, b: TimelineHold): number {
  const byToken = a.token === null || b.token === null ? 0 : a.token - b.token
  return byToken || orderOf(a) - orderOf(b) || a.from - b.from
}

const orderOf = ({ kind }: TimelineHold) => Number(holdViewOf(kind).sharesToken ?? false)

/**
 * Returns the start of a hold. Times of entries are inexact, so a hold may seem to start shortly
 * after the next hold. Then the start of the next hold counts.
 */
function startOf({ from, nextFrom }: TimelineHold): number {
  return from > nextFrom && from - nextFrom <= INEXACT_MS ? nextFrom : from
}

const isSameOwner = (a: TimelineHold, b: TimelineHold) =>
  withoutSide(a.owner) === withoutSide(b.owner)

/** @param knowledgeOf returns what the dashboard knows now about a hold without a recorded end */
export function spanOf(held: TimelineHold, knowledgeOf: (held: TimelineHold) => Knowledge): Span {
  const { owner, label, kind, token, ended } = held
  const from = startOf(held)
  const bound: End = holdViewOf(kind).hidesEnd
    ? { to: from, sureUntil: from, ending: 'untold' }
    : ended === null
      ? openEnd(held, knowledgeOf(held))
      : knownEnd(held, ended)
  return { owner, label, kind, token, from, ...bound }
}

type End = Pick<Span, 'to' | 'sureUntil' | 'ending'>

function knownEnd(held: TimelineHold, { at, how }: NonNullable<TimelineHold['ended']>): End {
  const { leaseMs, nextFrom, seenUntil } = held
  const from = startOf(held)
  const sureUntil = how === 'seen' ? Math.max(from, seenUntil) : at
  const lateMs = at - nextFrom
  // If a release was confirmed long after the start of the next hold, the two holds did overlap.
  // The chart shows the overlap.
  if (lateMs <= 0 || (how === 'released' && lateMs > INEXACT_MS)) {
    return { to: at, sureUntil, ending: how }
  }
  const to = Math.max(from, nextFrom)
  // A stalled holder records its loss late, after its lease has ended. So the hold is certain only
  // until the end of its first lease.
  const sure = how === 'lost' && lateMs > INEXACT_MS ? from + leaseMs : sureUntil
  return { to, sureUntil: Math.min(to, sure), ending: how }
}

function openEnd(held: TimelineHold, knowledge: Knowledge): End {
  const { limitAt, nextFrom, goneBy } = held
  const { now, state, sureUntil } = knowledge
  const from = startOf(held)
  const hasNext = nextFrom < Number.POSITIVE_INFINITY
  if (state === 'held' && !hasNext) return { to: null, sureUntil: now, ending: null }
  const ends = [nextFrom, limitAt <= now ? limitAt : Number.POSITIVE_INFINITY]
  if (state === 'gone') ends.push(goneBy ?? now)
  const endsAt = Math.max(from, Math.min(...ends))
  const to = Number.isFinite(endsAt) ? endsAt : null
  const sure = Math.min(Math.max(from, sureUntil), to ?? now)
  return { to, sureUntil: sure, ending: 'unrecorded' }
}
