import type { LockFacts } from './answers.ts'
import type { CallFailure } from './failure.ts'
import type { Seen } from './force.ts'
import type { LockKeys } from './keys.ts'
import type { Master } from './master.ts'
import { poll } from './poll.ts'
import { answersOf, mostOften, type Size, type Votes } from './votes.ts'

type Fail = (votes: Votes<unknown>, mayBeDone: boolean) => CallFailure

/**
 * Who has the lock on a majority of masters, or may have, where some do not answer.
 *
 * @param fail makes the failure where no majority answered
 */
export async function seenByMost(
  masters: readonly Master[],
  { all, majority }: Size,
  keys: LockKeys,
  callMs: number,
  fail: Fail,
): Promise<Seen | null> {
  const holdersOf = (votes: Votes<LockFacts>) => answersOf(votes).map(({ holder }) => holder)
  const votes = await poll(
    masters,
    (master) => master.inspect(keys, callMs, 0),
    (some) => (mostOften(holdersOf(some))?.times ?? 0) >= majority,
  )
  const holders = holdersOf(votes)
  if (holders.length < majority) throw fail(votes, false)
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
 * @param fail makes the failure where fewer than that have
 * @returns whether one of them had it
 */
export async function forceReleaseOnMost(
  masters: readonly Master[],
  { majority }: Size,
  keys: LockKeys,
  seen: Seen,
  callMs: number,
  fail: Fail,
): Promise<boolean> {
  const votes = await poll(
    masters,
    (master) => master.forceRelease(keys, seen, callMs),
    (some) => answersOf(some).length >= majority && 'nearly',
  )
  const answers = answersOf(votes)
  if (answers.length < majority) throw fail(votes, answers.length > 0)
  return answers.includes(true)
}
