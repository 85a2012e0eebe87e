import type { TableRow } from './row.ts'

/** One who had a lock, from when until when: an end that is null is not over yet. */
export interface Span {
  readonly key: string
  readonly owner: string
  readonly label: string | null
  readonly token: number | null
  readonly from: number
  to: number | null
  /** How it ended; null where nobody told, as with what was only seen; `untold` where that should have been recorded. */
  ending: 'released' | 'lost' | 'forced' | 'untold' | null
}

/** What came to nothing, or to a bad end. */
export interface Loss {
  readonly key: string
  readonly at: number
  readonly event: string
  readonly reason: string | null
  readonly label: string | null
  readonly heldMs: number | null
  readonly waitedMs: number | null
}

export interface Waits {
  readonly count: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  readonly maxMs: number | null
}

/** What is told of the time before now. */
export interface Past {
  /** `history`: all that happened. `poll`: what was seen while somebody looked. */
  readonly source: 'history' | 'poll'
  /** Why the history cannot be told, where it was to be. */
  readonly error: string | null
  readonly now: number
  readonly from: number
  readonly spans: readonly Span[]
  /** These are of the history alone, and null without it. */
  readonly waits: Waits | null
  readonly contended: readonly (Waits & { readonly key: string })[] | null
  readonly losses: readonly Loss[] | null
}

export interface PastQuestion {
  readonly from: number
  readonly now: number
  /** Of this lock alone. */
  readonly key: string | null
  /** Of locks with this in their names. */
  readonly filter: string
}

/** So many locks are drawn, of each so many holds, and so many losses are told. */
const MOST_KEYS = 20
const MOST_SPANS = 200
const MOST_LOSSES = 200
const KEYS_SEEN = 5_000
const SPANS_SEEN = 60

/** Two looks at one hold tell moments that differ a little. */
const SAME_HOLD_MS = 1_000

/** Who held what, as the poll saw it: short holds between two looks are missed. */
export class SeenHolds {
  readonly #spans = new Map<string, Span[]>()

  note(before: TableRow | undefined, after: TableRow | undefined): void {
    const key = (after ?? before)?.key
    if (key === undefined) return
    const now = Date.now()
    const spans = this.#spans.get(key) ?? []
    const held = new Map(after?.holders.map((holder) => [holder.owner, holder]))
    for (const span of spans) {
      if (span.to !== null) continue
      const same = held.get(span.owner)
      // The same owner again, later, has another moment.
      if (same !== undefined && (same.since ?? 0) < span.from + SAME_HOLD_MS) {
        held.delete(span.owner)
      } else span.to = Math.max(span.from, now)
    }
    for (const { owner, label, since } of held.values()) {
      const from = Math.min(since ?? now, now)
      const token = after?.holders.length === 1 ? after.token : null
      spans.push({ key, owner, label, token, from, to: null, ending: null })
    }
    if (spans.length === 0) return
    this.#spans.delete(key)
    this.#spans.set(key, spans.slice(-SPANS_SEEN))
    if (this.#spans.size > KEYS_SEEN) {
      const [oldest] = this.#spans.keys()
      this.#spans.delete(oldest as string)
    }
  }

  past(question: PastQuestion, error: string | null): Past {
    const spans = chosen([...this.#spans.values()].flat(), question)
    const { now, from } = question
    return { source: 'poll', error, now, from, spans, waits: null, contended: null, losses: null }
  }
}

/** A process that died recorded no end: such a hold is over when others have the lock, or nobody. */
export function endUntold(
  spans: readonly Span[],
  rowOf: (key: string) => TableRow | undefined,
): void {
  for (const span of spans) {
    const row = rowOf(span.key)
    if (span.to !== null || row === undefined || row.holders.length < row.holderCount) continue
    if (row.holders.some(({ owner }) => owner === span.owner)) continue
    span.ending = 'untold'
  }
}

/** Of the busiest locks, the newest spans: those whose holders had them for longest come first. */
export function chosen(spans: readonly Span[], { from, now, key, filter }: PastQuestion): Span[] {
  const wanted = filter.toLowerCase()
  const byKey = new Map<string, { heldMs: number; spans: Span[] }>()
  for (const span of spans) {
    if ((span.to ?? now) < from) continue
    if (key === null ? !span.key.toLowerCase().includes(wanted) : span.key !== key) continue
    const entry = byKey.get(span.key) ?? { heldMs: 0, spans: [] }
    entry.heldMs += (span.to ?? now) - Math.max(span.from, from)
    entry.spans.push(span)
    byKey.set(span.key, entry)
  }
  return [...byKey.values()]
    .sort((a, b) => b.heldMs - a.heldMs)
    .slice(0, MOST_KEYS)
    .flatMap((entry) => entry.spans.sort((a, b) => a.from - b.from).slice(-MOST_SPANS))
}

export function waitsOf(waited: number[]): Waits {
  const sorted = waited.sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null
  return {
    count: sorted.length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    maxMs: sorted.at(-1) ?? null,
  }
}

export function newest(losses: readonly Loss[]): Loss[] {
  return losses.toSorted((a, b) => b.at - a.at).slice(0, MOST_LOSSES)
}
