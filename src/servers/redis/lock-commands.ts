import {
  type AcquireAnswer,
  type HandOverAnswer,
  type LockFacts,
  MOST_LISTED,
  type ReenterAnswer,
  type Released,
} from '../answers.ts'
import type { Attempt, Ending, Passing, Reentry } from '../lock-server.ts'
import { withCounts } from './acquire-args.ts'
import { type LockKeys, queueKeys } from './keys.ts'
import {
  freedOf,
  grantOf,
  handedOverOf,
  handedOverOrYieldedOf,
  keptOf,
  lockFacts,
  reentryOf,
} from './replies.ts'
import type { ScriptServer } from './script-runner.ts'
import * as lock from './scripts/lock.generated.ts'

export function acquire(
  { runner, counterMs }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, reserve, callMs }: Attempt,
): Promise<AcquireAnswer> {
  const args = (notAfterUs: number) =>
    withCounts([owner, leaseMs, notAfterUs, counterMs], 1, reserve, undefined)
  return runner.runInTime(lock.acquire, keys.both, args, callMs, grantOf)
}

export function reenter(
  { runner, counterMs }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
): Promise<ReenterAnswer> {
  const args = (notAfterUs: number) =>
    withCounts([owner, leaseMs, notAfterUs, counterMs], holds, 0, token)
  return runner.runInTime(lock.acquire, keys.both, args, callMs, reentryOf)
}

/** @param isVote whether it is one master of several */
export function handOver(
  { runner, counterMs }: ScriptServer,
  keys: LockKeys,
  { from, to, listening, reserve, callMs }: Passing,
  isVote = false,
): Promise<HandOverAnswer> {
  const args = (notAfterUs: number) => [
    from.owner,
    from.token,
    to.owner,
    to.leaseMs,
    notAfterUs,
    counterMs,
    keys.channel,
    runner.publish,
    listening ?? '',
    isVote ? 1 : '',
    reserve,
  ]
  const read = listening === null ? handedOverOf : handedOverOrYieldedOf
  return runner.runInTime(lock.handOver, keys.both, args, callMs, read)
}

export function release(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, holds, token, callMs }: Ending,
): Promise<Released> {
  const args = (notAfterUs: number) => {
    const needed = [owner, token, keys.channel, runner.publish]
    return holds > 0 ? [...needed, holds, notAfterUs] : needed
  }
  const read = holds > 0 ? keptOf : freedOf
  // Meanwhile the count may have been raised again.
  return runner.runInTime(lock.release, keys.both, args, callMs, read, holds === 0)
}

export function inspect(
  { runner }: ScriptServer,
  keys: LockKeys,
  callMs: number,
  most = MOST_LISTED,
): Promise<LockFacts> {
  const { queue, waiting } = queueKeys(keys.lock)
  const all = [...keys.both, queue, waiting]
  const args = () => [keys.channel, runner.publish, most]
  return runner.run(lock.inspect, all, args, callMs, lockFacts)
}
