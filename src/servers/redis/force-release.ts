import type { HolderFacts, SeenHold } from '../answers.ts'
import { forcedKey, type LockKeys } from './calls/keys.ts'
import type { ScriptRunner } from './calls/script-runner.ts'
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
  runner: ScriptRunner,
  keys: LockKeys,
  { owner, token }: SeenHold,
  callMs: number,
  forcedMs?: number,
): Promise<boolean> {
  return runner.ask({
    script: lock.forceRelease,
    keys: forcedMs === undefined ? keys.both : [...keys.both, forcedKey(keys.lock)],
    args: (terms) => lock.forceReleaseArgs({ owner, token: token ?? '', forcedMs }, terms, keys),
    read: lock.readForceRelease,
    callMs,
  })
}
