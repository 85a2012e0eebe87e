import type { Grant } from '../answers.ts'
import type { LockKeys } from './keys.ts'
import { grantedOf, only, text, whole } from './replies.ts'
import type { ScriptRunner } from './script-runner.ts'
import * as scripts from './scripts.generated.ts'

/** A lock, and the name under which it is asked for. */
export interface Named {
  readonly keys: LockKeys
  readonly owner: string
}

/** All are granted under one token; or one of them, by its index, is somebody else's. */
export type GrantOfAll =
  | Extract<Grant, { kind: 'granted' }>
  | { readonly kind: 'held'; readonly ttlMs: number; readonly index: number }

/** Takes several locks of one slot at once, or none. */
export function acquireAll(
  calls: ScriptRunner,
  leases: readonly Named[],
  leaseMs: number,
  counterMs: number,
  timeoutMs: number,
): Promise<GrantOfAll> {
  const both = leases.flatMap(({ keys }) => keys.both)
  const owners = leases.map(({ owner }) => owner)
  const args = (notAfterUs: number) => [leaseMs, notAfterUs, counterMs, ...owners]
  return calls.runInTime(scripts.acquireAll, both, args, timeoutMs, (answer) => {
    if (answer[0] !== 'held') return grantedOf(only(answer, 2))
    const [, ttlMs, n] = only(answer, 3)
    // It throws where there is no such lock.
    text(owners[whole(n, 1) - 1])
    return { kind: 'held', ttlMs: whole(ttlMs, -2), index: Number(n) - 1 }
  })
}
