import type { KindName } from '../../index.ts'

/** Which other holds a hold keeps out is decided by its kind. A fair lock is a lock. */
export type SpanKind = Exclude<KindName, 'fair'>

/**
 * How a hold ended. `released`, `lost` and `forced` were recorded. `seen`: the dashboard saw that it was over. `unrecorded`:
 * nobody recorded an end, as of a process that was killed. `untold`: permits without a lease, whose end is never recorded.
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
  /** It is known to have lasted until then. Between then and `to` it ended. */
  readonly sureUntil: number
  /** Null if it is still held. */
  readonly ending: Ending | null
}

/** What is known of one hold. */
export interface Held {
  readonly owner: string
  readonly label: string | null
  readonly kind: SpanKind
  readonly token: number | null
  readonly from: number
  /** Its lease, in milliseconds; 0 if that is unknown. */
  readonly leaseMs: number
  /** Its lease has ended by then, unless `extend()` lengthened it. Infinity if it is renewed, or if that is unknown. */
  readonly limitAt: number
  /** The end that was recorded or seen. */
  ended: { readonly at: number; readonly how: Ending } | null
  /** When the next hold began that cannot exist beside this one; Infinity if there is none. See `settle`. */
  nextFrom: number
  /** When the dashboard last saw it held; 0 if it never did. */
  seenUntil: number
  /** When the dashboard first saw that it is over. */
  goneBy: number | undefined
}

/** What the dashboard knows now about a hold without an end. */
export interface Knowledge {
  readonly now: number
  /** Whether the servers still name its owner as a holder. */
  readonly state: 'held' | 'gone' | 'unknown'
  /** Until when its client, or the dashboard, showed that it is held. */
  readonly sureUntil: number
}

/** An entry of the history reaches Redis at most so long after it was sent: its time may be wrong by that. */
const INEXACT_MS = 2_000

/** A hold of the kind on the left is over when another owner has one of those on the right. */
const ENDED_BY: Readonly<Record<SpanKind, readonly SpanKind[]>> = {
  lock: ['lock', 'read', 'write', 'upgradable'],
  write: ['lock', 'read', 'write', 'upgradable'],
  upgradable: ['lock', 'write', 'upgradable'],
  read: ['lock', 'write'],
  permits: [],
  semaphore: [],
}

/** Brings the holds of one name into the order of their tokens, and tells each when the next one began that ends it. */
export function settle(holds: Held[]): void {
  holds.sort(inOrder)
  const next = new Map<SpanKind, Held>()
  for (const held of holds.toReversed()) {
    held.nextFrom = Number.POSITIVE_INFINITY
    for (const kind of ENDED_BY[held.kind]) {
      const other = next.get(kind)
      // One owner may have several kinds at once: it reads while it writes.
      const isBeside = kind !== held.kind && other !== undefined && isSameOwner(other, held)
      if (other !== undefined && !isBeside) held.nextFrom = Math.min(held.nextFrom, startOf(other))
    }
    next.set(held.kind, held)
  }
}

/** Readers have the token of the writer before them. */
function inOrder(a: Held, b: Held): number {
  const byToken = a.token === null || b.token === null ? 0 : a.token - b.token
  return byToken || Number(a.kind === 'read') - Number(b.kind === 'read') || a.from - b.from
}

/** The times of two entries are inexact, so a hold may seem to begin after the next one. It began before. */
function startOf({ from, nextFrom }: Held): number {
  return from > nextFrom && from - nextFrom <= INEXACT_MS ? nextFrom : from
}

const isSameOwner = (a: Held, b: Held) => baseOf(a.owner) === baseOf(b.owner)

/** An owner of a read-write lock has a name for each of its sides. */
const baseOf = (owner: string) => owner.replace(/:(write|upgradable)$/, '')

/** How a hold is drawn. @param knowledgeOf is called for a hold without an end */
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
  // A release is confirmed by the server: one that came long after the next hold began is no matter of clocks. It is shown.
  if (lateMs <= 0 || (how === 'released' && lateMs > INEXACT_MS)) {
    return { to: at, sureUntil, ending: how }
  }
  const to = Math.max(from, nextFrom)
  // A holder that stood still records its loss when it goes on. Its lease was over before.
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
