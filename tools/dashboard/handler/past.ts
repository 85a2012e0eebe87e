import { holdViewOf } from '../../kinds/all.ts'
import type { Span } from './spans.ts'

/** The newest holds of one lock, usually in the order in which they began. */
export interface Lane {
  readonly key: string
  readonly spans: readonly Span[]
}

/**
 * A lane that may compute its spans only when `spans()` is called. Only the lanes of the locks that
 * were held for longest are drawn, so the other lanes need no spans.
 */
export interface TimedLane {
  readonly key: string
  /**
   * The sum of the durations of all holds of the lock in the time span of the question, in
   * milliseconds.
   */
  readonly heldMs: number
  spans(): readonly Span[]
}

/** A lost or forced hold, a call that got no lease, or a gap in the history. */
export interface Loss {
  readonly key: string
  readonly at: number
  readonly event: string
  readonly reason: string | null
  readonly label: string | null
  readonly heldMs: number | null
  readonly waitedMs: number | null
}

interface Waits {
  readonly count: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  readonly maxMs: number | null
}

export interface Past {
  /**
   * `history`: recorded holds, and other holds that the poll saw. `poll`: only holds that the poll
   * saw.
   */
  readonly source: 'history' | 'poll'
  /** Why the history cannot be read; null if it can be read, or if there is no history. */
  readonly error: string | null
  readonly now: number
  readonly from: number
  /** The lanes of the locks that were held for longest. */
  readonly lanes: readonly Lane[]
  /** The number of locks that were held in the time span of the question. */
  readonly lockCount: number
  /** The waits that ended with the lock or with a timeout. Null if `source` is `poll`. */
  readonly waits: Waits | null
  /** The locks with the longest waits. Null if `source` is `poll`. */
  readonly contended: readonly (Waits & { readonly key: string })[] | null
  /** The newest losses, the newest first. Null if `source` is `poll`. */
  readonly losses: readonly Loss[] | null
}

export interface PastQuestion {
  readonly from: number
  readonly now: number
  /** The only lock that the question is about. Null for all locks. */
  readonly key: string | null
  /**
   * If `key` is null, only the lanes of locks with this text in their names are wanted. An empty
   * text means all locks.
   */
  readonly filter: string
}

const MOST_LANES = 20
const MOST_SPANS = 200

/** @returns true if the question includes the lock with this name */
export function isAskedFor(name: string, { key, filter }: PastQuestion): boolean {
  if (key !== null) return name === key
  return filter === '' || name.toLowerCase().includes(filter.toLowerCase())
}

/** Returns for how long a hold lasted within the time span of the question, in milliseconds. */
export function heldMsIn(
  span: { readonly from: number; readonly to: number | null },
  { from, now }: Pick<PastQuestion, 'from' | 'now'>,
): number {
  return (span.to ?? now) - Math.max(span.from, from)
}

/** Returns the lanes of the locks that were held for longest, and the number of all given lanes. */
export function busiest(lanes: readonly TimedLane[]): Pick<Past, 'lanes' | 'lockCount'> {
  const chosen = lanes
    .toSorted((a, b) => b.heldMs - a.heldMs)
    .slice(0, MOST_LANES)
    .map((lane) => ({ key: lane.key, spans: lane.spans().slice(-MOST_SPANS) }))
  return { lanes: chosen, lockCount: lanes.length }
}

/**
 * Returns all lanes. Joins the two lanes of a lock that has both recorded holds and seen holds.
 *
 * @param seen the holds that only the poll saw
 */
export function joined(recorded: readonly TimedLane[], seen: readonly TimedLane[]): TimedLane[] {
  const byKey = new Map(recorded.map((lane) => [lane.key, lane]))
  for (const lane of seen) {
    const own = byKey.get(lane.key)
    byKey.set(lane.key, own === undefined ? lane : both(own, lane))
  }
  return [...byKey.values()]
}

function both(recorded: TimedLane, seen: TimedLane): TimedLane {
  return {
    key: recorded.key,
    heldMs: recorded.heldMs + seen.heldMs,
    spans() {
      const others = recorded.spans()
      const cut = seen.spans().map((span) => ({ ...span, to: endBefore(others, span) }))
      return [...others, ...cut].sort((a, b) => a.from - b.from)
    },
  }
}

/**
 * Returns the end of a hold that only the poll saw. The poll notices an end late. So an exclusive
 * hold ends at the latest when the next recorded hold begins.
 */
function endBefore(others: readonly Span[], { kind, sureUntil, to }: Span): number | null {
  if (to === null || !holdViewOf(kind).isExclusive) return to
  const next = others.find(({ from }) => from >= sureUntil && from < to)
  return next?.from ?? to
}

export function waitsOf(waited: readonly number[]): Waits {
  const sorted = Float64Array.from(waited).sort()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
  return {
    count: sorted.length,
    p50Ms: at(0.5) ?? null,
    p95Ms: at(0.95) ?? null,
    p99Ms: at(0.99) ?? null,
    maxMs: sorted.at(-1) ?? null,
  }
}
