import type { JointAnswer } from '../answers.ts'
import { lockKeys } from './keys.ts'
import { grantedOf, only, text, whole } from './replies.ts'
import type { ScriptServer } from './script-runner.ts'
import * as lock from './scripts/lock.generated.ts'

/** Takes several locks of one slot at once, or none. */
export function acquireAll(
  { runner, counterMs }: ScriptServer,
  locks: readonly { readonly rawName: string; readonly owner: string }[],
  leaseMs: number,
  callMs: number,
): Promise<JointAnswer> {
  const both = locks.flatMap(({ rawName }) => lockKeys(rawName).both)
  const owners = locks.map(({ owner }) => owner)
  const args = (notAfterUs: number) => [leaseMs, notAfterUs, counterMs, ...owners]
  return runner.runInTime(lock.acquireAll, both, args, callMs, (answer) => {
    if (answer[0] !== 'held') return grantedOf(only(answer, 2))
    const [, ttlMs, n] = only(answer, 3)
    // It throws where there is no such lock.
    text(owners[whole(n, 1) - 1])
    return { kind: 'held', ttlMs: whole(ttlMs, -2), index: Number(n) - 1 }
  })
}
