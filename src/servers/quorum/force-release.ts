import type { HolderFacts, SeenHold } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { answersOf, mostOften, type RequestedMasters, type Votes } from './majority.ts'
import type { Master } from './master.ts'
import { requestAll } from './request-all.ts'

/**
 * Returns the holder on a majority of masters; null if no owner can have a majority. A master
 * without an answer counts as if it had the holder that most masters have.
 */
export async function seenByMost(
  { masters, size: { all, majority }, failure }: RequestedMasters<Master>,
  keys: LockKeys,
  callMs: number,
): Promise<SeenHold | null> {
  const holdersOf = (votes: Votes<HolderFacts>) => answersOf(votes).map(({ holder }) => holder)
  const votes = await requestAll(
    masters,
    (master) => master.read(keys, (lock) => lock.peek(callMs)),
    (some) => (mostOften(holdersOf(some))?.times ?? 0) >= majority,
  )
  const holders = holdersOf(votes)
  if (holders.length < majority) throw failure(votes, false)
  const most = mostOften(holders.filter((holder) => holder !== null))
  if (most === undefined) return null
  const mayHaveIt = most.times + (all - holders.length) >= majority
  return mayHaveIt ? { owner: most.value, token: null } : null
}

/**
 * Ends the hold of the owner id in `seen` on all masters. Resolves when a majority of masters has
 * confirmed that the owner id has no hold. No repair restores the hold after that.
 *
 * @returns true if at least one master had the hold
 */
export async function forceReleaseOnMost(
  { masters, size: { majority }, failure }: RequestedMasters<Master>,
  keys: LockKeys,
  seen: SeenHold,
  callMs: number,
): Promise<boolean> {
  const votes = await requestAll(
    masters,
    (master) => master.forceRelease(keys, seen, callMs),
    (some) => answersOf(some).length >= majority && 'nearly',
  )
  const answers = answersOf(votes)
  if (answers.length < majority) throw failure(votes, answers.length > 0)
  return answers.includes(true)
}
