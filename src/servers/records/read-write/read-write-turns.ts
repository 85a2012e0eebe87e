import { CLAIM_MS } from '../../fair-server.ts'
import { type Hint, TURN_OF_READERS } from '../../hint.ts'
import { isUpgradable, isWriter } from '../../owner-id.ts'
import { endsInMs } from '../../remaining.ts'
import { otherListeners, publishHint } from '../hint-messages.ts'
import type { OpenRecord } from '../open-record.ts'
import { sizeOf } from '../plain-data.ts'
import { dropExpired, holdLeft, lockLeft, READ_WRITE_PART, removeHold } from './read-write-holds.ts'
import { firstWaiting, GOES_ON } from './read-write-queue.ts'

export const readWriteChannel = (rawName: string) => `read-write ${rawName}`

/**
 * Ends the hold of an owner, and sends messages to the next waiters.
 *
 * @returns how many other clients receive the message about the release; 0 if no such message is
 * sent, and undefined if unknown
 */
export function endReadWriteHold(
  record: OpenRecord,
  owner: string,
  listens?: boolean,
): number | undefined {
  const holds = record.part(READ_WRITE_PART)
  const { mode } = holds
  // If this hold had the longest lease, the lock's lease must shrink to the longest lease of the
  // other readers.
  const lockMs = endsInMs(lockLeft(holds, record.nowMs))
  const ownLeft = holdLeft(holds, owner, record.nowMs)
  const wasLongest = lockMs === ownLeft || lockMs - (ownLeft === 'gone' ? 0 : ownLeft) < 100
  removeHold(holds, owner)
  const isFree = isWriter(owner) || (mode === 'read' && !readersStay(record, owner, wasLongest))
  if (!isFree) return 0
  wakeAll(record, isWriter(owner))
  return otherListeners(record, readWriteChannel(record.rawName), listens)
}

/**
 * Sends a message to the waiters that are next: to all readers, to the first waiter of the writers'
 * queue, or to both.
 *
 * @param wasWritten true if a writer has just released the lock. Then the waiting readers are next
 */
export function wakeReadWrite(record: OpenRecord, wasWritten = false): void {
  const { queue, byOwner } = record.part(READ_WRITE_PART)
  const { nowMs } = record
  const first = firstWaiting(queue, 'write', nowMs)
  const waitsToWrite = first !== undefined && first.wanted !== 'upgradable'
  const reader = firstWaiting(queue, 'read', nowMs)
  const isPhase = queue.phaseEndsAt > 0
  const areReadersNext = reader && (wasWritten || !waitsToWrite || isPhase)
  if (areReadersNext) {
    // The phase begins even if no writer waits. Otherwise a new writer could acquire the lock before
    // these readers, which have already waited for one writer.
    if (wasWritten) queue.phaseEndsAt = nowMs + CLAIM_MS
    publish(record, TURN_OF_READERS)
  }
  if (first === undefined) return
  const size = sizeOf(byOwner)
  const isAlone = size === 0 || (size === 1 && first.sinceUs === GOES_ON)
  if (!waitsToWrite || (isAlone && !areReadersNext)) {
    publish(record, { kind: 'turn', of: String(first.sinceUs) })
  }
}

/**
 * Called when a reader's hold has ended. If readers are left, wakes the next waiters in two cases:
 * the owner had the upgradable lock, or the only reader waits for an upgrade.
 *
 * @returns true if a reader is left
 */
function readersStay(record: OpenRecord, owner: string, wasLongest: boolean): boolean {
  const holds = record.part(READ_WRITE_PART)
  const first = firstWaiting(holds.queue, 'write', record.nowMs)
  const isCounted = first !== undefined || wasLongest
  const remaining = isCounted ? dropExpired(holds, record.nowMs) : sizeOf(holds.byOwner)
  if (remaining === 0) return false
  if (isUpgradable(owner) || (remaining === 1 && first?.sinceUs === GOES_ON)) wakeReadWrite(record)
  return true
}

/**
 * Sends the message about the release, and messages to the next waiters. A writer may keep the read
 * lock. Then only readers can acquire the lock.
 */
function wakeAll(record: OpenRecord, wasWritten: boolean): void {
  dropExpired(record.part(READ_WRITE_PART), record.nowMs)
  // Waiters for the lock ignore this message. The message wakes calls that only want to know when
  // the lock is released.
  publish(record, { kind: 'released', by: wasWritten ? 'writer' : 'reader', isForAll: false })
  wakeReadWrite(record, wasWritten)
}

function publish(record: OpenRecord, hint: Hint): void {
  publishHint(record, readWriteChannel(record.rawName), hint)
}
