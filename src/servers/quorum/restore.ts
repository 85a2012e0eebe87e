import type { Granted, LeaseToRenew } from '../answers.ts'
import { forcedKey, type LockKeys } from '../redis/keys.ts'
import type { ScriptServer } from '../redis/script-runner.ts'
import * as scripts from '../redis/scripts.generated.ts'

/**
 * Gives one master of several a lock back that a majority has confirmed.
 *
 * @param onAnswer gets the first word of the answer
 * @returns that it was granted, whatever the answer: it may have the lock in that name
 */
export function restoreAt(
  { runner, counterMs }: ScriptServer,
  { both, lock }: LockKeys,
  { wireOwner, holds = 1, token = 0 }: LeaseToRenew,
  leaseMs: number,
  timeoutMs: number,
  onAnswer: (answer: string) => void,
): Promise<Granted> {
  const keys = [...both, forcedKey(lock)]
  const args = (notAfterUs: number) => [wireOwner, holds, leaseMs, token, notAfterUs, counterMs]
  return runner.runInTime(scripts.restore, keys, args, timeoutMs, ([answer]) => {
    onAnswer(answer)
    return { kind: 'granted', token }
  })
}
