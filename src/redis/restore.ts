import type { Grant, Seat } from './answers.ts'
import { forcedKey, type LockKeys } from './keys.ts'
import type { LockNode } from './lock-node.ts'
import * as scripts from './scripts.generated.ts'

/**
 * Gives one master of several a lock back that a majority has confirmed.
 *
 * @param onAnswer gets the first word of the answer
 * @returns that it was granted, whatever the answer: it may have the lock in that name
 */
export function restoreAt(
  { calls, counterMs }: LockNode,
  { both, lock }: LockKeys,
  { wireOwner, holds = 1, token = 0 }: Seat,
  leaseMs: number,
  timeoutMs: number,
  onAnswer: (answer: string) => void,
): Promise<Grant> {
  const keys = [...both, forcedKey(lock)]
  const args = (notAfterUs: number) => [wireOwner, holds, leaseMs, token, notAfterUs, counterMs]
  return calls.timed(scripts.restore, keys, args, timeoutMs, ([answer]) => {
    onAnswer(answer)
    return { kind: 'granted', token }
  })
}
