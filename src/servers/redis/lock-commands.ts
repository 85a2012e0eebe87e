import {
  type AcquireAnswer,
  type HandOverAnswer,
  type HolderFacts,
  type LockFacts,
  MOST_LISTED,
  type ReenterAnswer,
  type Released,
} from '../answers.ts'
import type { Attempt, Ending, Passing, Reentry } from '../lock-server.ts'
import { type LockKeys, queueKeys } from './keys.ts'
import {
  freedOf,
  grantOf,
  handedOverOf,
  handedOverOrYieldedOf,
  holderFacts,
  keptOf,
  lockFacts,
  reentryOf,
} from './replies.ts'
import type { ScriptServer } from './script-runner.ts'
import * as lock from './scripts/lock.generated.ts'
import type { Terms } from './scripts/terms.ts'

export function acquire(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, reserve, callMs }: Attempt,
): Promise<AcquireAnswer> {
  const args = (terms: Terms) => lock.acquireArgs({ owner, leaseMs, reserve }, terms)
  return runner.runInTime(lock.acquire, keys.both, args, callMs, grantOf)
}

export function reenter(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
): Promise<ReenterAnswer> {
  const args = (terms: Terms) => lock.acquireArgs({ owner, leaseMs, holds, token }, terms)
  return runner.runInTime(lock.acquire, keys.both, args, callMs, reentryOf)
}

/** @param vote whether it is one master of several */
export function handOver(
  { runner }: ScriptServer,
  keys: LockKeys,
  { from, to, listening, reserve, callMs }: Passing,
  vote = false,
): Promise<HandOverAnswer> {
  const { owner, token } = from
  const args = (terms: Terms) =>
    lock.handOverArgs(
      {
        from: owner,
        token,
        to: to.owner,
        leaseMs: to.leaseMs,
        listening: listening ?? '',
        vote,
        reserve,
      },
      terms,
      keys,
    )
  const read = listening === null ? handedOverOf : handedOverOrYieldedOf
  return runner.runInTime(lock.handOver, keys.both, args, callMs, read)
}

export function release(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, holds, token, callMs }: Ending,
): Promise<Released> {
  const args = (terms: Terms) => lock.releaseArgs({ owner, token, holds }, terms, keys)
  const read = holds > 0 ? keptOf : freedOf
  // Meanwhile the count may have been raised again.
  return runner.runInTime(lock.release, keys.both, args, callMs, read, holds === 0)
}

/** `peek` or `inspect`. */
export type Look<F> = (server: ScriptServer, keys: LockKeys, callMs: number) => Promise<F>

export function peek(
  { runner }: ScriptServer,
  keys: LockKeys,
  callMs: number,
): Promise<HolderFacts> {
  return runner.run(lock.peek, keys.both, () => [], callMs, holderFacts)
}

export function inspect(
  { runner }: ScriptServer,
  keys: LockKeys,
  callMs: number,
): Promise<LockFacts> {
  const { queue, waiting } = queueKeys(keys.lock)
  const all = [...keys.both, queue, waiting]
  const args = () => lock.inspectArgs({ most: MOST_LISTED }, runner.terms, keys)
  return runner.run(lock.inspect, all, args, callMs, lockFacts)
}
