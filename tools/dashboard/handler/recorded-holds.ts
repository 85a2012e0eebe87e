import type { KindName } from '../../../src/index.ts'
import type { HistoryEntry } from '../../history/history.ts'
import { labelIn } from '../../inspection/owner-ids.ts'
import { holdViewOf } from '../../kinds/all.ts'
import { heldMsIn, type PastQuestion, type TimedLane } from './past.ts'
import { type Ending, type Knowledge, sortAndLink, spanOf, type TimelineHold } from './spans.ts'

const ENDED: ReadonlySet<string> = new Set(['released', 'lost', 'forced'])

export interface RecordedHold extends TimelineHold {
  readonly id: string
  /** The number of kept entries about this hold. */
  entries: number
}

/** The holds of one name, from the entries of the history. */
export class RecordedHolds {
  readonly key: string
  /**
   * True if several locks may share the name. Then the start of one hold does not show that another
   * hold has ended.
   */
  readonly #isGroup: boolean
  readonly #holds: RecordedHold[] = []
  readonly #byId = new Map<string, RecordedHold>()
  #isSettled = true

  constructor({ name, isGroup }: HistoryEntry) {
    this.key = name
    this.#isGroup = isGroup
  }

  /**
   * Adds the next entry of the history.
   *
   * @param label the label of the entry, cut if it is long
   * @returns the hold of the entry; undefined if the entry belongs to no hold
   */
  add(entry: HistoryEntry, label: string): RecordedHold | undefined {
    const { event, owner, token, at, heldMs } = entry
    if (owner === null) return undefined
    const isEnd = ENDED.has(event)
    if (!isEnd && event !== 'acquired') return undefined
    this.#isSettled = false
    const id = `${owner}\n${token}`
    const known = isEnd ? this.#known(id, owner, token) : undefined
    const held = known ?? this.#addHold(id, entry, isEnd ? at - (heldMs ?? 0) : at, label)
    held.entries++
    if (isEnd) {
      // A hold ends when its holder releases the lock. `at` is the later time at which the server
      // confirmed the release. At that time, the next owner may already hold the lock.
      const endedAt = known === undefined || heldMs === null ? at : known.from + heldMs
      const ending = { at: Math.max(held.from, endedAt), how: event as Ending }
      // A forced release may have two entries, because the holder notices the release later and
      // also records it. The earlier end counts.
      if (held.ended === null || ending.at < held.ended.at) held.ended = ending
    }
    return held
  }

  /**
   * Drops one entry of the hold, and drops the hold after its last entry. @returns true if the hold
   * was dropped
   */
  drop(held: RecordedHold): boolean {
    if (--held.entries > 0) return false
    this.#holds.splice(this.#holds.indexOf(held), 1)
    if (this.#byId.get(held.id) === held) this.#byId.delete(held.id)
    return true
  }

  /** @returns the holds in the time span of the question; undefined if there was no hold */
  timed(
    question: PastQuestion,
    knowledgeOf: (held: TimelineHold) => Knowledge,
  ): TimedLane | undefined {
    if (!this.#isSettled && !this.#isGroup) sortAndLink(this.#holds)
    this.#isSettled = true
    const within: TimelineHold[] = []
    let heldMs = 0
    for (const held of this.#holds) {
      // The hold ended before the time span of the question.
      if (held.ended !== null && held.ended.at < question.from) continue
      const endsAt = held.ended === null ? spanOf(held, knowledgeOf).to : held.ended.at
      if (endsAt !== null && endsAt < question.from) continue
      within.push(held)
      heldMs += heldMsIn({ from: held.from, to: endsAt }, question)
    }
    if (within.length === 0) return undefined
    const spans = () => within.map((held) => spanOf(held, knowledgeOf))
    return { key: this.key, heldMs, spans }
  }

  /**
   * Finds the hold that an entry ends. An entry about a forced release may have no token. Such an
   * entry ends the last hold of the owner that has no end yet.
   */
  #known(id: string, owner: string, token: number | null): RecordedHold | undefined {
    if (token !== null) return this.#byId.get(id)
    return this.#holds.findLast((held) => held.owner === owner && held.ended === null)
  }

  #addHold(id: string, entry: HistoryEntry, from: number, label: string): RecordedHold {
    const { owner, kind, token, leaseMs, limitMs } = entry
    const held: RecordedHold = {
      id,
      owner: owner as string,
      label: labelIn(owner as string) ?? (label || null),
      kind: shownAs(kind ?? this.#holds.at(-1)?.kind ?? 'lock'),
      token,
      from,
      leaseMs: leaseMs ?? 0,
      limitAt: limitMs === null ? Number.POSITIVE_INFINITY : from + limitMs,
      ended: null,
      nextFrom: Number.POSITIVE_INFINITY,
      seenUntil: 0,
      goneBy: undefined,
      entries: 0,
    }
    this.#holds.push(held)
    this.#byId.set(id, held)
    return held
  }
}

const shownAs = (kind: KindName): KindName => holdViewOf(kind).shownAs ?? kind
