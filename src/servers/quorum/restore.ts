import type { Granted, LeaseToRenew } from '../answers.ts'
import { forcedKey, type LockKeys } from '../redis/keys.ts'
import type { ScriptServer } from '../redis/script-runner.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'
import type { Terms } from '../redis/scripts/terms.ts'

/**
 * Gives one master of several a lock back that a majority has confirmed.
 *
 * @param onAnswer gets to hear whether the owner has the lock there
 * @returns that it was granted, whatever the answer: it may have the lock in that name
 */
export function restoreAt(
  { runner }: ScriptServer,
  { both, lock }: LockKeys,
  { wireOwner, holds = 1, token = 0 }: LeaseToRenew,
  leaseMs: number,
  timeoutMs: number,
  onAnswer: (answer: 'held' | 'gone') => void,
): Promise<Granted> {
  const keys = [...both, forcedKey(lock)]
  const args = (terms: Terms) =>
    quorum.restoreArgs({ owner: wireOwner, holds, leaseMs, token }, terms)
  return runner.runInTime(quorum.restore, keys, args, timeoutMs, (reply) => {
    onAnswer(quorum.readRestore(reply).kind)
    return { kind: 'granted', token }
  })
}
