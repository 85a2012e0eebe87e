import type { LockFacts } from './answers.ts'
import { yesOrNo } from './decode.ts'
import type { CallFailure } from './failure.ts'
import { forcedKey, type LockKeys } from './keys.ts'
import type { LockCalls } from './lock-calls.ts'
import type { Master } from './master.ts'
import { poll } from './poll.ts'
import * as scripts from './scripts.generated.ts'
import { answersOf, mostOften, type Size, type Votes } from './votes.ts'

/** The hold that force is to end: that one, and none that comes after it. */
export interface Seen {
  /** `<clientId>:<owner>` */
  readonly owner: string
  /** The last token issued; null where none is remembered, or each name is used for one hold only. */
  readonly token: number | null
}

type Fail = (votes: Votes<unknown>, mayBeDone: boolean) => CallFailure

/** Who has the lock, as it was found. */
export function seenIn({ holder, token }: LockFacts): Seen | null {
  return holder === null ? null : { owner: holder, token }
}

/**
 * @param forcedMs how long one master of several gives the lock back to nobody of that name, in
 * milliseconds; left out for a server that is alone
 * @returns whether it was taken; false when that one did not have it any more
 */
export function forceRelease(
  calls: LockCalls,
  { both, lock, channel }: LockKeys,
  { owner, token }: Seen,
  timeoutMs: number,
  forcedMs?: number,
): Promise<boolean> {
  const isOneOfMany = forcedMs !== undefined
  const keys = isOneOfMany ? [...both, forcedKey(lock)] : both
  const args = () => {
    const needed = [owner, token ?? '', channel, calls.publish]
    return isOneOfMany ? [...needed, forcedMs] : needed
  }
  return calls.run(scripts.forceRelease, keys, args, timeoutMs, yesOrNo)
}

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
    (master) => master.inspect(keys, callMs),
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
