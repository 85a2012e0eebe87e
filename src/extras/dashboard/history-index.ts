import { clientOf, isPermitId } from '../deployment/key-names.ts'
import type { HistoryEntry } from '../history/history.ts'
import {
  isAskedFor,
  type Loss,
  type Past,
  type PastQuestion,
  type TimedLane,
  waitsOf,
} from './past.ts'
import { type RecordedHold, RecordedHolds } from './recorded-holds.ts'
import type { Held, Knowledge } from './spans.ts'
import { WaitLog } from './wait-log.ts'

/** What is kept in memory: the newest entries, limited in number and in bytes. */
export interface HistoryLimits {
  readonly mostEntries: number
  readonly mostBytes: number
}

export const HISTORY_LIMITS: HistoryLimits = { mostEntries: 50_000, mostBytes: 32 * 1024 * 1024 }

/** About what an entry takes beside its texts, and what a character of a text takes at most. */
const ENTRY_BYTES = 500
const CHAR_BYTES = 2
/** Labels and reasons of other processes are cut to so many characters. */
const MOST_CHARS = 200

const MOST_CONTENDED = 20
/** Of losses, and of calls that gave up: a service that tries often must not hide what was lost. */
const MOST_LOSSES = 100

const FAILED: ReadonlySet<string> = new Set(['lost', 'forced', 'outage', 'failed', 'dropped'])
const GAVE_UP: ReadonlySet<string> = new Set(['timeout', 'aborted'])

interface Named {
  readonly holds: RecordedHolds
  readonly waits: WaitLog
  /** How many entries of that name are kept. */
  count: number
}

interface KeptLoss {
  readonly writtenAt: number
  readonly loss: Loss
}

/** What is kept of one entry. */
interface Kept {
  readonly named: Named
  readonly client: string
  readonly bytes: number
  readonly held: RecordedHold | undefined
  readonly isWait: boolean
  /** The list that has it, if it is a loss. */
  readonly losses: KeptLoss[] | undefined
}

/** The newest entries of a history, kept so that a question about a few of them need not go through all. */
export class HistoryIndex {
  readonly #limits: HistoryLimits
  /** Each name is kept once. */
  readonly #named = new Map<string, Named>()
  /** Of each client: how many of its entries are kept, and when it wrote the last one. */
  readonly #clients = new Map<string, { count: number; lastAt: number }>()
  /** Of each owner: how many of its holds are kept. */
  readonly #owners = new Map<string, number>()
  readonly #failed: KeptLoss[] = []
  readonly #gaveUp: KeptLoss[] = []
  #kept: Kept[] = []
  /** What stands before it was dropped. */
  #first = 0
  #bytes = 0

  constructor(limits: Partial<HistoryLimits> = {}) {
    this.#limits = { ...HISTORY_LIMITS, ...limits }
  }

  get size(): number {
    return this.#kept.length - this.#first
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether a holder that the servers name is one whose holds are recorded, under whatever name. */
  hasHold(key: string, owner: string): boolean {
    return this.#owners.has(owner) || (isPermitId(owner) && this.#named.has(key))
  }

  /** Adds the entry that comes next in the stream, and drops the oldest ones above the limits. */
  add(entry: HistoryEntry): void {
    const { event, client, waitedMs, at } = entry
    const named = this.#namedAs(entry)
    const held = named.holds.add(entry, short(entry.label))
    const writtenAt = Number.parseInt(entry.id, 10)
    // Of calls that ended: those that got it, and those that gave up.
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

  /** The holds in that time, by lock. @param knowledgeOf what is known now of a hold without a recorded end */
  lanes(
    question: PastQuestion,
    knowledgeOf: (key: string, held: Held, now: number) => Knowledge,
  ): TimedLane[] {
    return this.#asked(question).flatMap(({ holds }) => {
      const known = (held: Held) =>
        this.#withClient(held, knowledgeOf(holds.key, held, question.now))
      return holds.timed(question, known) ?? []
    })
  }

  /** How long calls waited that ended in that time, for which locks, and what was lost. */
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

  #asked(question: PastQuestion): Named[] {
    const { key } = question
    if (key !== null) return [this.#named.get(key) ?? []].flat()
    return [...this.#named.values()].filter(({ holds }) => isAskedFor(holds.key, question))
  }

  #namedAs(entry: HistoryEntry): Named {
    const known = this.#named.get(entry.name)
    if (known !== undefined) return known
    const named: Named = { holds: new RecordedHolds(entry), waits: new WaitLog(), count: 0 }
    this.#named.set(entry.name, named)
    this.#bytes += CHAR_BYTES * entry.name.length
    return named
  }

  #noteClient({ client, label, at }: HistoryEntry): void {
    const known = this.#clients.get(client) ?? { count: 0, lastAt: 0 }
    known.count++
    // An entry about a lock that was taken by force has no label: it is no sign of life of the holder.
    if (label !== '') known.lastAt = Math.max(known.lastAt, at)
    this.#clients.set(client, known)
  }

  /** A client that writes is alive, and would have recorded the end of its hold. */
  #withClient(held: Held, knowledge: Knowledge): Knowledge {
    const lastAt = Math.min(this.#clients.get(clientOf(held.owner))?.lastAt ?? 0, held.limitAt)
    return { ...knowledge, sureUntil: Math.max(knowledge.sureUntil, lastAt) }
  }

  #drop(): void {
    const { named, client, bytes, held, isWait, losses } = this.#kept[this.#first] as Kept
    this.#kept[this.#first++] = undefined as never
    this.#bytes -= bytes
    losses?.shift()
    if (isWait) named.waits.drop()
    const known = this.#clients.get(client)
    if (known !== undefined && --known.count === 0) this.#clients.delete(client)
    if (held !== undefined && named.holds.drop(held)) {
      const left = (this.#owners.get(held.owner) ?? 0) - 1
      if (left > 0) this.#owners.set(held.owner, left)
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

/** @param all the oldest first, in the order in which they were written: what was written before `from` is older */
function newest(all: readonly KeptLoss[], from: number, key: string | null): Loss[] {
  const losses: Loss[] = []
  for (let i = all.length - 1; i >= 0 && losses.length < MOST_LOSSES; i--) {
    const { writtenAt, loss } = all[i] as KeptLoss
    if (writtenAt < from) break
    if (loss.at >= from && (key === null || loss.key === key)) losses.push(loss)
  }
  return losses
}

/** About how much memory an entry takes. The texts are those of the entry as it is kept, or as it was read. */
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

/** Copied, because a part of a string keeps the whole string in memory. */
function short(text: string): string {
  return text.length <= MOST_CHARS ? text : `${Buffer.from(text.slice(0, MOST_CHARS))}…`
}
