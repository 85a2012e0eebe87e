import type { HolderFacts, SeenHold } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { peek } from '../redis/lock-commands.ts'
import { askAll } from './ask-all.ts'
import { type AskedMasters, answersOf, mostOften, type Votes } from './majority.ts'
import type { Master } from './master.ts'

/** Who has the lock on a majority of masters, or may have, where some do not answer. */
export async function seenByMost(
  { masters, size: { all, majority }, failure }: AskedMasters<Master>,
  keys: LockKeys,
  callMs: number,
): Promise<SeenHold | null> {
  const holdersOf = (votes: Votes<HolderFacts>) => answersOf(votes).map(({ holder }) => holder)
  const votes = await askAll(
    masters,
    (master) => master.look(keys, peek, callMs),
    (some) => (mostOften(holdersOf(some))?.times ?? 0) >= majority,
  )
  const holders = holdersOf(votes)
  if (holders.length < majority) throw failure(votes, false)
  const most = mostOften(holders.filter((holder) => holder !== null))
  if (most === undefined) return null
  // Those who are yet to answer may have it in that name too.
  const mayHaveIt = most.times + (all - holders.length) >= majority
  return mayHaveIt ? { owner: most.value, token: null } : null
}

/**
 * Takes the lock from that name on all masters. It is done when a majority has confirmed, in one
 * round, that the name does not have the lock there and will not be given it back.
 *
 * @returns whether one of them had it
 */
export async function forceReleaseOnMost(
  { masters, size: { majority }, failure }: AskedMasters<Master>,
  keys: LockKeys,
  seen: SeenHold,
  callMs: number,
): Promise<boolean> {
  const votes = await askAll(
    masters,
    (master) => master.forceRelease(keys, seen, callMs),
    (some) => answersOf(some).length >= majority && 'nearly',
  )
  const answers = answersOf(votes)
  if (answers.length < majority) throw failure(votes, answers.length > 0)
  return answers.includes(true)
}
