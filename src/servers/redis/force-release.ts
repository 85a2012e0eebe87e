import type { HolderFacts, SeenHold } from '../answers.ts'
import { forcedKey, type LockKeys } from './calls/keys.ts'
import type { ScriptRunner } from './calls/script-runner.ts'
import * as lock from './scripts/lock.generated.ts'

/** Returns the hold that `forceRelease` can end; null if the lock is free. */
export function seenIn({ holder, token }: HolderFacts): SeenHold | null {
  return holder === null ? null : { owner: holder, token }
}

/**
 * @param forcedMs how long one master of several refuses to restore a hold of the owner, in
 * milliseconds; left out for a single server
 * @returns true if the hold was ended; false if the owner did not hold the lock any more
 */
export function forceRelease(
  runner: ScriptRunner,
  keys: LockKeys,
  { owner, token }: SeenHold,
  callMs: number,
  forcedMs?: number,
): Promise<boolean> {
  return runner.request({
    script: lock.forceRelease,
    keys: forcedMs === undefined ? keys.both : [...keys.both, forcedKey(keys.lock)],
    args: (terms) => lock.forceReleaseArgs({ owner, token: token ?? '', forcedMs }, terms, keys),
    read: lock.readForceRelease,
    callMs,
  })
}
