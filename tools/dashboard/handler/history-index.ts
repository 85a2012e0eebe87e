import type { HistoryEntry } from '../../history/history.ts'
import { clientOf, isPermitId } from '../../inspection/owner-ids.ts'
import {
  isAskedFor,
  type Loss,
  type Past,
  type PastQuestion,
  type TimedLane,
  waitsOf,
} from './past.ts'
import { type RecordedHold, RecordedHolds } from './recorded-holds.ts'
import type { Knowledge, TimelineHold } from './spans.ts'
import { WaitLog } from './wait-log.ts'

/** The limits of the index. If a limit is exceeded, the oldest entries are dropped. */
export interface HistoryLimits {
  readonly mostEntries: number
  readonly mostBytes: number
}

export const HISTORY_LIMITS: HistoryLimits = { mostEntries: 50_000, mostBytes: 32 * 1024 * 1024 }

/** The estimated memory of one entry without its texts, in bytes. */
const ENTRY_BYTES = 500
/** The estimated memory of one character, in bytes. */
const CHAR_BYTES = 2
/** Longer labels and reasons are cut to this many characters. */
const MOST_CHARS = 200

const MOST_CONTENDED = 20
/**
 * An answer has at most this many losses, and at most this many calls that gave up. The two limits
 * are separate, so that many timeouts hide no loss.
 */
const MOST_LOSSES = 100

const FAILED: ReadonlySet<string> = new Set(['lost', 'forced', 'outage', 'failed', 'dropped'])
const GAVE_UP: ReadonlySet<string> = new Set(['timeout', 'aborted'])

interface NameHistory {
  readonly holds: RecordedHolds
  readonly waits: WaitLog
  count: number
}

interface KeptLoss {
  readonly writtenAt: number
  readonly loss: Loss
}

/** The facts about one entry that the index needs to drop the entry later. */
interface KeptEntry {
  readonly named: NameHistory
  readonly client: string
  readonly bytes: number
  readonly held: RecordedHold | undefined
  readonly isWait: boolean
  /** The list of losses or of timeouts that has this entry. Undefined if no list has the entry. */
  readonly losses: KeptLoss[] | undefined
}

/**
 * Indexes the newest entries of a history by lock name. So an answer about one lock need not read
 * the holds and waits of other locks.
 */
export class HistoryIndex {
  readonly #limits: HistoryLimits
  /** The holds and waits of each lock name. All entries of a lock share one copy of its name. */
  readonly #named = new Map<string, NameHistory>()
  /** For each client: the number of its kept entries, and when it last recorded an event. */
  readonly #clients = new Map<string, { count: number; lastAt: number }>()
  /** For each owner: the number of its kept holds. */
  readonly #owners = new Map<string, number>()
  readonly #failed: KeptLoss[] = []
  readonly #gaveUp: KeptLoss[] = []
  #kept: KeptEntry[] = []
  /** The index in `#kept` of the oldest entry that is still kept. */
  #first = 0
  #bytes = 0

  constructor(limits: Partial<HistoryLimits> = {}) {
    this.#limits = { ...HISTORY_LIMITS, ...limits }
  }

  get size(): number {
    return this.#kept.length - this.#first
  }

  /** The estimated memory of the index, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * True if the history has a hold of this owner, for any lock. Entries do not contain permit ids.
   * So for a permit id, any entry about the lock counts.
   */
  hasHold(key: string, owner: string): boolean {
    return this.#owners.has(owner) || (isPermitId(owner) && this.#named.has(key))
  }

  /** Adds the next entry of the stream, and drops the oldest entries above the limits. */
  add(entry: HistoryEntry): void {
    const { event, client, waitedMs, at } = entry
    const named = this.#namedAs(entry)
    const held = named.holds.add(entry, short(entry.label))
    const writtenAt = Number.parseInt(entry.id, 10)
    // A wait counts only if the caller got the lock, or if the wait timed out.
    const isWait = waitedMs !== null && (event === 'acquired' || event === 'timeout')
    if (isWait) named.waits.add(writtenAt, at, waitedMs)
    const losses = FAILED.has(event) ? this.#failed : GAVE_UP.has(event) ? this.#gaveUp : undefined
    losses?.push({ writtenAt, loss: lossOf(named.holds.key, entry) })
    if (held?.entries === 1) this.#owners.set(held.owner, (this.#owners.get(held.owner) ?? 0) + 1)
    this.#noteClient(entry)
    const bytes = bytesOf(entry) - CHAR_BYTES * entry.name.length
    this.#kept.push({ named, client, bytes, held, isWait, losses })
    this.#bytes += bytes
    named.count++
    const { mostEntries, mostBytes } = this.#limits
    while (this.size > mostEntries || (this.#bytes > mostBytes && this.size > 1)) this.#drop()
  }

  /**
   * Returns the holds in the time span of the question, grouped by lock.
   *
   * @param knowledgeOf returns what the dashboard knows now about a hold without a recorded end
   */
  lanes(
    question: PastQuestion,
    knowledgeOf: (key: string, held: TimelineHold, now: number) => Knowledge,
  ): TimedLane[] {
    return this.#asked(question).flatMap(({ holds }) => {
      const known = (held: TimelineHold) =>
        this.#withClient(held, knowledgeOf(holds.key, held, question.now))
      return holds.timed(question, known) ?? []
    })
  }

  /** Returns the waits and losses in the time span of the question. Ignores its `filter`. */
  figures(question: PastQuestion): Pick<Past, 'waits' | 'contended' | 'losses'> {
    const { from, key } = question
    const waited = this.#asked({ ...question, filter: '' }).map(({ holds, waits }) => {
      return { key: holds.key, own: waits.since(from) }
    })
    const contended = waited
      .filter(({ own }) => own.some((ms) => ms > 0))
      .map(({ key, own }) => ({ key, ...waitsOf(own) }))
      .sort((a, b) => (b.p95Ms ?? 0) - (a.p95Ms ?? 0))
      .slice(0, MOST_CONTENDED)
    const losses = [this.#failed, this.#gaveUp]
      .flatMap((all) => newest(all, from, key))
      .sort((a, b) => b.at - a.at)
    return { waits: waitsOf(waited.flatMap(({ own }) => own)), contended, losses }
  }

  #asked(question: PastQuestion): NameHistory[] {
    const { key } = question
    if (key !== null) return [this.#named.get(key) ?? []].flat()
    return [...this.#named.values()].filter(({ holds }) => isAskedFor(holds.key, question))
  }

  #namedAs(entry: HistoryEntry): NameHistory {
    const known = this.#named.get(entry.name)
    if (known !== undefined) return known
    const named: NameHistory = { holds: new RecordedHolds(entry), waits: new WaitLog(), count: 0 }
    this.#named.set(entry.name, named)
    this.#bytes += CHAR_BYTES * entry.name.length
    return named
  }

  #noteClient({ client, label, at }: HistoryEntry): void {
    const known = this.#clients.get(client) ?? { count: 0, lastAt: 0 }
    known.count++
    // An entry without a label comes from another process, which released the lock by force. Such
    // an entry does not show that the client is alive.
    if (label !== '') known.lastAt = Math.max(known.lastAt, at)
    this.#clients.set(client, known)
  }

  /**
   * A client records the ends of its holds. So a hold without a recorded end lasted at least until
   * the latest entry of its client. After `limitAt`, the hold may have ended.
   */
  #withClient(held: TimelineHold, knowledge: Knowledge): Knowledge {
    const lastAt = Math.min(this.#clients.get(clientOf(held.owner))?.lastAt ?? 0, held.limitAt)
    return { ...knowledge, sureUntil: Math.max(knowledge.sureUntil, lastAt) }
  }

  #drop(): void {
    const { named, client, bytes, held, isWait, losses } = this.#kept[this.#first] as KeptEntry
    this.#kept[this.#first++] = undefined as never
    this.#bytes -= bytes
    losses?.shift()
    if (isWait) named.waits.drop()
    const known = this.#clients.get(client)
    if (known !== undefined && --known.count === 0) this.#clients.delete(client)
    if (held !== undefined && named.holds.drop(held)) {
      const remaining = (this.#owners.get(held.owner) ?? 0) - 1
      if (remaining > 0) this.#owners.set(held.owner, remaining)
      else this.#owners.delete(held.owner)
    }
    if (--named.count === 0) {
      this.#named.delete(named.holds.key)
      this.#bytes -= CHAR_BYTES * named.holds.key.length
    }
    if (this.#first > this.#limits.mostEntries / 10) {
      this.#kept = this.#kept.slice(this.#first)
      this.#first = 0
    }
  }
}

/**
 * Returns the newest losses since `from`, the newest first. An entry is written after its event. So
 * the search stops at an entry that was written before `from`.
 */
function newest(all: readonly KeptLoss[], from: number, key: string | null): Loss[] {
  const losses: Loss[] = []
  for (let i = all.length - 1; i >= 0 && losses.length < MOST_LOSSES; i--) {
    const { writtenAt, loss } = all[i] as KeptLoss
    if (writtenAt < from) break
    if (loss.at >= from && (key === null || loss.key === key)) losses.push(loss)
  }
  return losses
}

/** The estimated memory of an entry, in bytes. */
export function bytesOf(entry: Partial<HistoryEntry>): number {
  const { id, name, owner, client, label, reason } = entry
  const texts = [id, name, owner, client, label, reason]
  return texts.reduce((sum, text) => sum + CHAR_BYTES * (text?.length ?? 0), ENTRY_BYTES)
}

function lossOf(key: string, entry: HistoryEntry): Loss {
  const { at, event, heldMs, waitedMs, stalledMs, dropped } = entry
  const stalled = stalledMs === null ? null : `the event loop was blocked for ${stalledMs} ms`
  const lost = dropped === null ? null : `${dropped} entries of the history`
  const own = entry.reason === null ? null : short(entry.reason)
  const reason = [own, stalled, lost].filter((one) => one !== null).join('; ') || null
  return { key, at, event, reason, label: short(entry.label), heldMs, waitedMs }
}

/** Shortens a long text. Copies the kept part, because a slice would keep the whole text in memory. */
function short(text: string): string {
  return text.length <= MOST_CHARS ? text : `${Buffer.from(text.slice(0, MOST_CHARS))}…`
}
