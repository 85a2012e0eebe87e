import { type HistoryEntry, type HistoryRedis, readHistory } from '../history/history.ts'
import {
  chosen,
  type Loss,
  newest,
  type Past,
  type PastQuestion,
  type Span,
  waitsOf,
} from './past.ts'
import { CLOSED, messageOf } from './poll.ts'

/** Where the history is, as `recordHistory` was told. */
export interface HistoryOptions {
  /** A URL, options of ioredis, `{ cluster: [...] }` or a client of ioredis; a connection of its own is opened. */
  readonly redis: HistoryRedis
  /** The key of the stream; `holdfast_history`. */
  readonly key?: string | undefined
}

/** So many entries are kept in memory, the newest. */
const MOST_ENTRIES = 50_000

/** When nobody has asked for so long, it is followed no more. */
const IDLE_MS = 30_000
const RETRY_MS = 3_000
const MOST_CONTENDED = 20

/** Holds that ended, and calls that came to nothing. */
const ENDED = new Set(['released', 'lost', 'forced'])
const FAILED = new Set(['lost', 'forced', 'timeout', 'aborted', 'outage', 'failed', 'dropped'])

/** The history, followed while somebody asks for it: it is read once, and then only what comes. */
export class FollowedHistory {
  readonly #options: HistoryOptions
  #entries: HistoryEntry[] = []
  #following: AbortController | undefined
  #begun = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #error: unknown
  #isClosed = false
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /** @returns null where nothing was ever recorded; rejects where it cannot be read */
  async past(question: PastQuestion): Promise<Past | null> {
    if (this.#isClosed) throw new Error(CLOSED)
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#rest(), IDLE_MS).unref()
    if (this.#following === undefined && performance.now() - this.#failedAt > RETRY_MS) {
      this.#begun = this.#begin()
    }
    await this.#begun
    if (this.#following === undefined) throw this.#error
    return this.#entries.length === 0 ? null : pastOf(this.#entries, question)
  }

  close(): void {
    this.#isClosed = true
    this.#error ??= new Error(CLOSED)
    this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    this.#following?.abort()
    this.#following = undefined
  }

  /** All that is there first, the newest at the end; then what comes. */
  async #begin(): Promise<void> {
    const following = new AbortController()
    this.#following = following
    const { signal } = following
    try {
      const before: HistoryEntry[] = []
      const options = { ...this.#options, signal, last: MOST_ENTRIES }
      for await (const entry of readHistory(options)) before.push(entry)
      this.#entries = before.reverse()
      void this.#follow(signal)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      const since = this.#entries.at(-1)?.at ?? 0
      const known = new Set(this.#entries.slice(-1_000).map(({ id }) => id))
      for await (const entry of readHistory({ ...this.#options, follow: true, since, signal })) {
        if (known.has(entry.id)) continue
        this.#entries.push(entry)
        if (this.#entries.length > MOST_ENTRIES * 1.1) {
          this.#entries = this.#entries.slice(-MOST_ENTRIES)
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#error = new Error(messageOf(error))
    this.#failedAt = performance.now()
    this.#rest()
  }
}

/** @internal What entries tell of the time that is asked for. */
export function pastOf(entries: readonly HistoryEntry[], question: PastQuestion): Past {
  const { now, from, key } = question
  const spans = new Map<string, Span>()
  const waits: number[] = []
  const byName = new Map<string, number[]>()
  const losses: Loss[] = []
  for (const entry of entries) {
    if (key !== null && entry.name !== key) continue
    noteHold(spans, entry)
    if (entry.at < from) continue
    const { event, name, waitedMs } = entry
    // How long calls waited that ended: those that got it, and those that gave up.
    if (waitedMs !== null && (event === 'acquired' || event === 'timeout')) {
      waits.push(waitedMs)
      const own = byName.get(name) ?? []
      own.push(waitedMs)
      byName.set(name, own)
    }
    if (FAILED.has(event)) losses.push(lossOf(entry))
  }
  const contended = [...byName]
    .map(([name, own]) => ({ key: name, ...waitsOf(own) }))
    .filter(({ maxMs }) => (maxMs ?? 0) > 0)
    .sort((a, b) => (b.p95Ms ?? 0) - (a.p95Ms ?? 0))
    .slice(0, MOST_CONTENDED)
  return {
    source: 'history',
    error: null,
    now,
    from,
    spans: chosen([...spans.values()], question),
    waits: waitsOf(waits),
    contended,
    losses: newest(losses),
  }
}

/** The end of a hold tells how long it lasted, so that its begin need not be known. */
function noteHold(spans: Map<string, Span>, entry: HistoryEntry): void {
  const { event, name, owner, label, token, at, heldMs } = entry
  const ended = ENDED.has(event)
  if (owner === null || (event !== 'acquired' && !ended)) return
  const id = `${owner}\n${token}\n${name}`
  const known = spans.get(id)
  const span: Span = known ?? {
    key: name,
    owner,
    label,
    token,
    from: ended ? at - (heldMs ?? 0) : at,
    to: null,
    ending: null,
  }
  spans.set(id, span)
  if (!ended) return
  span.to = Math.max(at, span.from)
  span.ending = event as Span['ending']
}

function lossOf({
  name,
  at,
  event,
  reason,
  label,
  heldMs,
  waitedMs,
  stalledMs,
  dropped,
}: HistoryEntry) {
  const stalled = stalledMs === null ? null : `the event loop stood still for ${stalledMs} ms`
  const lost = dropped === null ? null : `${dropped} entries of the history`
  const why = [reason, stalled, lost].filter((one) => one !== null).join('; ')
  return { key: name, at, event, reason: why || null, label, heldMs, waitedMs }
}
