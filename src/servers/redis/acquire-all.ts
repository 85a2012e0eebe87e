import type { JointAnswer } from '../answers.ts'
import { endsInMs } from '../remaining.ts'
import { lockAndCounter } from './calls/keys.ts'
import type { ScriptServer } from './calls/script-runner.ts'
import * as lock from './scripts/lock.generated.ts'
import { odd } from './scripts/reading.ts'

/** Acquires several locks of one slot, or none. */
export function acquireAll(
  { runner }: ScriptServer,
  locks: readonly { readonly rawName: string; readonly owner: string }[],
  leaseMs: number,
  callMs: number,
): Promise<JointAnswer> {
  const both = locks.flatMap(({ rawName }) => lockAndCounter(rawName))
  const owners = locks.map(({ owner }) => owner)
  const read = (reply: unknown): JointAnswer => {
    const answer = lock.acquireAll.read(reply)
    if (answer.kind === 'granted') return answer
    const { kind, ttlMs, n } = answer
    if (n > locks.length) throw odd()
    return { kind, ttlMs: endsInMs(ttlMs), index: n - 1 }
  }
  return runner.request({ ...lock.acquireAll, read }, { both }, { leaseMs, owners }, callMs)
}
