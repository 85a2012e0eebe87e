import type { SeenHold } from '../answers.ts'
import type { HolderFacts } from '../facts.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { answersOf, mostOften, type RequestedMasters, type Votes } from './majority.ts'
import type { Master } from './master/master.ts'
import { requestAll } from './request-all.ts'

/**
 * Returns the owner that holds the lock on a majority of masters, or null. A master without an
 * answer counts for the owner that most masters name. Rejects if no majority answered.
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
 * confirmed the end. Later repairs do not restore the hold.
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
