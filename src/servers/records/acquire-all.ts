import type { JointAnswer } from '../answers.ts'
import { endsInMs } from '../remaining.ts'
import { lastToken, setCounter, type TokenTerms } from './counter.ts'
import type { OpenRecord } from './open-record.ts'
import { giveLock, heldBy, LOCK_PART, lengthenLock, lockLeft, lockOf } from './stored-lock.ts'

/**
 * Acquires all of the locks, or none. If the owners already hold all of the locks, lengthens the
 * leases.
 */
export function acquireAll(
  all: readonly { readonly record: OpenRecord; readonly owner: string }[],
  terms: TokenTerms,
): JointAnswer {
  const isOwn = all.map(({ record, owner }) => heldBy(record.part(LOCK_PART), owner) !== null)
  const taken = all.findIndex(({ record }, n) => lockOf(record).holder !== null && !isOwn[n])
  const refusing = all[taken]?.record
  if (refusing !== undefined) {
    const ttlMs = endsInMs(lockLeft(lockOf(refusing), refusing.nowMs))
    return { kind: 'held', ttlMs, index: taken }
  }
  const missing = isOwn.indexOf(false)
  // The owners hold only some of the locks, from an earlier request. A new token would end these
  // holds, so the server refuses the request.
  if (missing !== -1 && isOwn.includes(true)) {
    return { kind: 'held', ttlMs: Infinity, index: missing }
  }
  const last = Math.max(...all.map(({ record }) => lastToken(record)))
  const isRepeat = missing === -1 && last > 0
  const newToken = () => Math.max(last + 1, ...all.map(({ record }) => record.uniqueUs()))
  const token = isRepeat ? last : newToken()
  for (const { owner, record } of all) {
    if (missing !== -1) giveLock(record, owner, terms.leaseMs)
    lengthenLock(record, terms)
    setCounter(record, token, terms)
  }
  return { kind: 'granted', token, reserved: 0 }
}
