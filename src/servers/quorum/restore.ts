import type { Granted, LeaseToRenew } from '../answers.ts'
import { forcedKey, type LockKeys } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'

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
  return runner.ask({
    script: quorum.restore,
    keys: [...both, forcedKey(lock)],
    args: (terms) => quorum.restoreArgs({ owner: wireOwner, holds, leaseMs, token }, terms),
    read: (reply) => {
      onAnswer(quorum.readRestore(reply).kind)
      return { kind: 'granted', token }
    },
    callMs: timeoutMs,
  })
}
