import { holdOf, holdViewOf } from '../../kinds/all.ts'
import {
  busiest,
  heldMsIn,
  isAskedFor,
  type Past,
  type PastQuestion,
  type TimedLane,
} from './past.ts'
import type { RowHolder, TableRow } from './row.ts'
import { type Knowledge, sortAndLink, spanOf, type TimelineHold } from './spans.ts'
import type { RowChange, Table } from './table.ts'

const KEYS_SEEN = 5_000
const HOLDS_SEEN = 60

/**
 * If an owner's hold starts at least this much later than in an earlier look, in milliseconds, the
 * hold is another hold.
 */
const SAME_HOLD_MS = 1_000

/**
 * The assumed greatest difference between the clocks of the dashboard and the servers, in
 * milliseconds.
 */
const CLOCKS_MS = 2_000

/** The holds that the poll saw. A hold that begins and ends between two looks is missing. */
export class SeenHolds {
  readonly #table: Table
  readonly #holds = new Map<string, TimelineHold[]>()

  constructor(table: Table) {
    this.#table = table
  }

  note({ key, after, lastSeenAt, owners }: RowChange): void {
    const now = Date.now()
    const holds = this.#holds.get(key) ?? []
    const holders = new Map(after?.holders.map((holder) => [holder.owner, holder]))
    for (const held of holds) {
      if (held.ended !== null) continue
      const same = holders.get(held.owner)
      // A later start means that the owner has released the lock and acquired it again.
      if (same !== undefined && (same.since ?? 0) < held.from + SAME_HOLD_MS) {
        holders.delete(held.owner)
        continue
      }
      held.seenUntil = Math.max(held.from, lastSeenAt)
      // An owner that is not in the row may still hold the lock, because a row names only the first
      // holders. If the row was removed, a node with the lock may be unreachable.
      const isUnknown =
        after === undefined ? this.#table.status.missing.length > 0 : owners.has(held.owner)
      if (!isUnknown || same !== undefined)
        held.ended = { at: Math.max(held.from, now), how: 'seen' }
    }
    for (const holder of holders.values()) holds.push(heldBy(holder, after as TableRow, now))
    if (holds.length === 0) return
    sortAndLink(holds)
    this.#holds.delete(key)
    this.#holds.set(key, holds.slice(-HOLDS_SEEN))
    if (this.#holds.size > KEYS_SEEN) {
      const [oldest] = this.#holds.keys()
      this.#holds.delete(oldest as string)
    }
  }

  /**
   * Returns what the dashboard knows now about a hold without a recorded end. Sets `held.goneBy`
   * when the dashboard first finds that the hold has ended. Clears `held.goneBy` while the owner is
   * a holder.
   */
  knowledgeOf(key: string, held: TimelineHold, now: number): Knowledge {
    const table = this.#table
    const own = this.#holds.get(key)?.findLast(({ owner }) => owner === held.owner)
    const isOpen = own !== undefined && own.ended === null
    const sureUntil = Math.max(own?.seenUntil ?? 0, (isOpen && table.seenAt(key)) || 0)
    const isUnknown = holdViewOf(held.kind).hidesOwners && table.hasUnknownOwners(key)
    if (isUnknown || table.owners.has(held.owner)) {
      held.goneBy = undefined
      return { now, state: table.isLive ? 'held' : 'unknown', sureUntil }
    }
    const lookedAt = table.isLive ? Math.max(table.seenAt(key) ?? 0, table.scannedSince) : 0
    if (own !== undefined && own.ended !== null) held.goneBy ??= own.ended.at
    else if (lookedAt > Math.max(held.from + CLOCKS_MS, sureUntil)) held.goneBy ??= now
    return { now, state: held.goneBy === undefined ? 'unknown' : 'gone', sureUntil }
  }

  /**
   * Returns the seen holds in the time span of the question, grouped by lock.
   *
   * @param isRecorded returns true if the history has a hold of this owner. The result lacks such
   * holds
   */
  lanes(
    question: PastQuestion,
    isRecorded: (key: string, owner: string) => boolean = () => false,
  ): TimedLane[] {
    const { from, now } = question
    return [...this.#holds].flatMap(([key, holds]): TimedLane[] => {
      if (!isAskedFor(key, question)) return []
      const spans = holds
        .filter(({ owner }) => !isRecorded(key, owner))
        .map((held) => spanOf(held, () => this.knowledgeOf(key, held, now)))
        .filter(({ to }) => (to ?? now) >= from)
      const heldMs = spans.reduce((sum, span) => sum + heldMsIn(span, question), 0)
      return spans.length === 0 ? [] : [{ key, heldMs, spans: () => spans }]
    })
  }

  past(question: PastQuestion, error: string | null): Past {
    const { now, from } = question
    const drawn = busiest(this.lanes(question))
    return {
      source: 'poll',
      error,
      now,
      from,
      ...drawn,
      waits: null,
      contended: null,
      losses: null,
    }
  }
}

function heldBy(holder: RowHolder, row: TableRow, now: number): TimelineHold {
  const { owner, label, since, isRedisson } = holder
  return {
    owner,
    label,
    kind: holdOf(row.kind, owner),
    // If there are several holders, the token of the row may belong to another holder. Redisson has
    // no tokens.
    token: row.holderCount === 1 && !isRedisson ? row.token : null,
    from: Math.min(since ?? now, now),
    leaseMs: 0,
    limitAt: Number.POSITIVE_INFINITY,
    ended: null,
    nextFrom: Number.POSITIVE_INFINITY,
    seenUntil: 0,
    goneBy: undefined,
  }
}
