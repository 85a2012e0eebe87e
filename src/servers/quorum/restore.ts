import type { Granted, LeaseToRenew } from '../answers.ts'
import { forcedKey, type LockKeys } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'

/**
 * Restores a hold on one master, after a majority has confirmed the hold.
 *
 * @param onAnswer receives the state on this master: `held` if the owner holds the lock, otherwise
 * `gone`
 * @returns a grant for every answer, because the owner id may hold the lock on this master
 */
export function restoreAt(
  { runner }: ScriptServer,
  keys: LockKeys,
  { wireOwner, holds = 1, token = 0 }: LeaseToRenew,
  leaseMs: number,
  timeoutMs: number,
  onAnswer: (answer: 'held' | 'gone') => void,
): Promise<Granted> {
  const names = { ...keys, forced: forcedKey(keys.lock) }
  const given = { owner: wireOwner, holds, leaseMs, token }
  const read = (reply: unknown): Granted => {
    onAnswer(quorum.restore.read(reply).kind)
    return { kind: 'granted', token }
  }
  return runner.request({ ...quorum.restore, read }, names, given, timeoutMs)
}
