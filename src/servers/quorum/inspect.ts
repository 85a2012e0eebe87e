import type { HolderFacts } from '../facts.ts'
import type { RemoteLock } from '../lock-server.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { answersOf, type Majority, mostOften, type RequestedMasters } from './majority.ts'
import type { Master } from './master/master.ts'
import { requestAll } from './request-all.ts'

/**
 * Returns the state of a lock on each master that answered in time. Rejects if no majority
 * answered.
 */
export async function readFromMost<F extends HolderFacts>(
  { masters, size, failure }: RequestedMasters<Master>,
  keys: LockKeys,
  read: (lock: RemoteLock) => Promise<F>,
): Promise<F[]> {
  const request = (master: Master) => master.read(keys, read)
  const votes = await requestAll(masters, request, (some) => {
    const most = mostOften(answersOf(some).map(({ holder }) => holder))
    return (most?.times ?? 0) >= size.majority && 'nearly'
  })
  const facts = answersOf(votes)
  if (facts.length < size.majority) throw failure(votes, false)
  return facts
}

/**
 * Returns the sorted ids of all masters as one text. Returns null if one id is unknown, because
 * another quorum may have the same known ids.
 */
export async function identifyAll(
  masters: readonly Master[],
  size: Majority,
  callMs: number,
): Promise<string | null> {
  const votes = await requestAll(
    masters,
    (master) => master.identify(callMs),
    (some) => answersOf(some).length >= size.majority && 'nearly',
  )
  const ids = answersOf(votes)
  return ids.length < size.all || ids.includes(null) ? null : ids.sort().join()
}
