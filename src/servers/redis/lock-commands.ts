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
import type { Reply } from '../reply.ts'
import { type LockKeys, queueKeys } from './calls/keys.ts'
import type { ScriptServer } from './calls/script-runner.ts'
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
import * as lock from './scripts/lock.generated.ts'

export function acquire(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, reserve, callMs }: Attempt,
  reply: Reply<AcquireAnswer>,
): void {
  runner.run(
    {
      script: lock.acquire,
      keys: keys.both,
      args: (terms) => lock.acquireArgs({ owner, leaseMs, reserve }, terms),
      read: grantOf,
      callMs,
    },
    reply,
  )
}

export function reenter(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
  reply: Reply<ReenterAnswer>,
): void {
  runner.run(
    {
      script: lock.acquire,
      keys: keys.both,
      args: (terms) => lock.acquireArgs({ owner, leaseMs, holds, token }, terms),
      read: reentryOf,
      callMs,
    },
    reply,
  )
}

/** @param vote true for one master of several */
export function handOver(
  { runner }: ScriptServer,
  keys: LockKeys,
  { from, to, listening, reserve, callMs }: Passing,
  reply: Reply<HandOverAnswer>,
  vote = false,
): void {
  const { owner, token } = from
  const asked = {
    from: owner,
    token,
    to: to.owner,
    leaseMs: to.leaseMs,
    listening: listening ?? ('' as const),
    vote,
    reserve,
  }
  runner.run(
    {
      script: lock.handOver,
      keys: keys.both,
      args: (terms) => lock.handOverArgs(asked, terms, keys),
      read: listening === null ? handedOverOf : handedOverOrYieldedOf,
      callMs,
    },
    reply,
  )
}

export function lower(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, holds, token, callMs }: Ending,
  reply: Reply<Released>,
): void {
  runner.run(
    {
      script: lock.release,
      keys: keys.both,
      args: (terms) => lock.releaseArgs({ owner, token, holds }, terms, keys),
      read: holds > 0 ? keptOf : freedOf,
      callMs,
      // The owner may have raised the count again meanwhile, so only a full release is repeated.
      asksAgain: holds === 0,
    },
    reply,
  )
}

export type LockRead<F> = (server: ScriptServer, keys: LockKeys, callMs: number) => Promise<F>

export function peek(
  { runner }: ScriptServer,
  keys: LockKeys,
  callMs: number,
): Promise<HolderFacts> {
  return runner.request({
    script: lock.peek,
    keys: keys.both,
    args: () => [],
    read: holderFacts,
    callMs,
  })
}

export function inspect(
  { runner }: ScriptServer,
  keys: LockKeys,
  callMs: number,
): Promise<LockFacts> {
  const { queue, waiting } = queueKeys(keys.lock)
  return runner.request({
    script: lock.inspect,
    keys: [...keys.both, queue, waiting],
    args: (terms) => lock.inspectArgs({ most: MOST_LISTED }, terms, keys),
    read: lockFacts,
    callMs,
  })
}
