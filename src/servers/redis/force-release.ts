import type { HolderFacts, SeenHold } from '../answers.ts'
import { forcedKey, type LockKeys } from './keys.ts'
import type { ScriptRunner } from './script-runner.ts'
import * as lock from './scripts/lock.generated.ts'

/** Who has the lock, as it was found. */
export function seenIn({ holder, token }: HolderFacts): SeenHold | null {
  return holder === null ? null : { owner: holder, token }
}

/**
 * @param forcedMs how long one master of several gives the lock back to nobody of that name, in
 * milliseconds; left out for a server that is alone
 * @returns whether it was taken; false when that one did not have it any more
 */
export function forceRelease(
  calls: ScriptRunner,
  keys: LockKeys,
  { owner, token }: SeenHold,
  timeoutMs: number,
  forcedMs?: number,
): Promise<boolean> {
  const all = forcedMs === undefined ? keys.both : [...keys.both, forcedKey(keys.lock)]
  const args = () =>
    lock.forceReleaseArgs({ owner, token: token ?? '', forcedMs }, calls.terms, keys)
  return calls.run(lock.forceRelease, all, args, timeoutMs, lock.readForceRelease)
}
