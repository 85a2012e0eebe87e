import type { LastHolder } from '../../answers.ts'
import { MOST_LISTED, type WaitingClient } from '../../facts.ts'
import { isWriter, sideOf } from '../../owner-id.ts'
import type { ReadWriteState } from '../../read-write-server.ts'
import { shownTtlMs } from '../../remaining.ts'
import { lastToken } from '../counter.ts'
import { ageMs, sinceMs } from '../moments.ts'
import type { OpenRecord } from '../open-record.ts'
import { holdLeft, READ_WRITE_PART, readWriteOf } from './read-write-holds.ts'
import { GOES_ON, listPlaces, type Waiting } from './read-write-queue.ts'

/** Returns the holders of a read-write lock and the waiting clients, as `inspect` shows them. */
export function readWriteFacts(record: OpenRecord): ReadWriteState {
  const holds = readWriteOf(record)
  const { nowMs } = record
  const alive = Object.entries(holds.byOwner).flatMap(([owner, hold]) => {
    const remaining = holdLeft(holds, owner, nowMs)
    if (remaining === 'gone') return []
    const ttlMs = shownTtlMs(remaining)
    return [
      { owner, side: sideOf(owner), holdCount: hold.holds, ttlMs, ageMs: ageMsOf(record, owner) },
    ]
  })
  const queue = listPlaces(holds.queue, 'write', nowMs)
  const isForReading = ({ wanted }: Waiting) => wanted === 'upgradable'
  const toRead = [...listPlaces(holds.queue, 'read', nowMs), ...queue.filter(isForReading)]
  const toWrite = queue.filter((one) => !isForReading(one))
  return {
    mode: alive.length === 0 ? null : holds.mode,
    holders: alive,
    token: lastToken(record) || null,
    waitingToRead: listed(
      toRead.sort((one, other) => one.sinceUs - other.sinceUs),
      nowMs,
    ),
    waitingToWrite: listed(toWrite, nowMs),
  }
}

/**
 * Returns a holder other than the owner `but`; '' if there is none. Prefers a holder whose lease
 * has not expired.
 */
export function holderOf(record: OpenRecord, but: string): LastHolder {
  const holds = record.part(READ_WRITE_PART)
  const owners = Object.keys(holds.byOwner).filter((owner) => owner !== but)
  const alive = owners.find((owner) => holdLeft(holds, owner, record.nowMs) !== 'gone')
  if (alive === undefined) return { holder: owners[0] ?? '', ageMs: null }
  return { holder: alive, ageMs: ageMsOf(record, alive) }
}

/**
 * Returns how long the owner has held the lock, in milliseconds; null if unknown. A writer's age is
 * the age of the last token.
 */
function ageMsOf(record: OpenRecord, owner: string): number | null {
  const token = lastToken(record)
  if (isWriter(owner)) return token === 0 ? null : ageMs(token, record.nowMs)
  const hold = record.part(READ_WRITE_PART).byOwner[owner]
  return hold === undefined ? null : Math.max(0, Math.round(record.nowMs - hold.beganAt))
}

function listed(some: readonly Waiting[], now: number): WaitingClient[] {
  return some.slice(0, MOST_LISTED).map(({ client, sinceUs }) => ({
    client,
    waitedMs: sinceUs === GOES_ON ? null : sinceMs(sinceUs, now),
  }))
}
