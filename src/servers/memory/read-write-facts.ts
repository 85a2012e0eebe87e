import {
  type LastHolder,
  MOST_LISTED,
  type ReadWriteFacts,
  type WaitingClient,
} from '../answers.ts'
import { isWriter } from '../read-write-server.ts'
import { ageMs, timeUs } from '../records/moments.ts'
import { shownTtlMs } from '../remaining.ts'
import type { LockRecord } from './records/lock-record.ts'
import { GOES_ON, type Waiting } from './records/waiting-record.ts'

/** Returns the holders of a read-write lock and the waiting clients, as `inspect` shows them. */
export function readWriteFacts(record: LockRecord, now: number): ReadWriteFacts {
  const { readWrite, counter } = record
  const { waiting } = readWrite
  const alive = readWrite.owners.filter((owner) => readWrite.ttlMsOf(owner, now) !== 'gone')
  const holders = alive.map((owner) => {
    const ttlMs = readWrite.ttlMsOf(owner, now)
    const holdCount = readWrite.heldBy(owner)?.holds ?? 0
    return {
      owner,
      holdCount,
      ttlMs: shownTtlMs(ttlMs),
      ageMs: ageMsOf(record, owner, now),
    }
  })
  const queue = waiting.list('write', now)
  const isForReading = ({ wanted }: Waiting) => wanted === 'upgradable'
  const toRead = [...waiting.list('read', now), ...queue.filter(isForReading)]
  return {
    mode: holders.length === 0 ? null : readWrite.mode,
    holders,
    token: counter?.token ?? null,
    waitingToRead: listed(
      toRead.sort((one, other) => one.sinceUs - other.sinceUs),
      now,
    ),
    waitingToWrite: listed(
      queue.filter((one) => !isForReading(one)),
      now,
    ),
  }
}

/**
 * Returns a holder other than the owner `but`. A holder whose lease has expired is returned only if
 * there is no other holder. '' means that there is no holder.
 */
export function holderOf(record: LockRecord, but: string, now: number): LastHolder {
  const { readWrite } = record
  const owners = readWrite.owners.filter((owner) => owner !== but)
  const alive = owners.find((owner) => readWrite.ttlMsOf(owner, now) !== 'gone')
  if (alive === undefined) return { holder: owners[0] ?? '', ageMs: null }
  return { holder: alive, ageMs: ageMsOf(record, alive, now) }
}

/**
 * Returns how long the owner has held the lock, in milliseconds; null if unknown. A writer's age is
 * the age of the last token.
 */
function ageMsOf({ readWrite, counter }: LockRecord, owner: string, now: number): number | null {
  if (isWriter(owner)) return counter && ageMs(counter.token, now)
  const hold = readWrite.heldBy(owner)
  return hold && Math.max(0, Math.round(now - hold.beganAt))
}

function listed(some: readonly Waiting[], now: number): WaitingClient[] {
  return some.slice(0, MOST_LISTED).map(({ client, sinceUs }) => {
    const waitedMs = Math.max(0, Math.round((timeUs(now) - sinceUs) / 1_000))
    return { client, waitedMs: sinceUs === GOES_ON ? null : waitedMs }
  })
}
