import type { AcquireAnswer, ReenterAnswer } from '../answers.ts'
import type { Attempt, Reentry } from '../lock-server.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import { type Forgot, reentryOf, voteOf } from '../redis/replies.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'

/**
 * Asks a master for its vote on a lock.
 *
 * @param longestMs the longest lease that this client acquires, in milliseconds. A master whose
 * mark names a shorter lease answers `forgot`.
 * @param onSend called each time a request is sent
 */
export function requestVote(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, reserve, callMs }: Attempt,
  longestMs: number,
  onSend: () => void,
): Promise<AcquireAnswer | Forgot> {
  return runner.request({
    script: quorum.vote,
    keys: keys.both,
    args: (terms) => {
      onSend()
      return quorum.voteArgs({ owner, leaseMs, longestMs, reserve }, terms)
    },
    read: voteOf,
    callMs,
  })
}

/** Asks a master to raise the hold count of an owner that holds the lock there. */
export function reenterByVote(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
  longestMs: number,
): Promise<ReenterAnswer> {
  return runner.request({
    script: quorum.vote,
    keys: keys.both,
    args: (terms) => quorum.voteArgs({ owner, leaseMs, longestMs, holds, token }, terms),
    read: reentryOf,
    callMs,
  })
}

/**
 * @returns true if the owner holds the lock on this master and the counter is not below the token
 */
export function agreeAt(
  { runner }: ScriptServer,
  { both }: LockKeys,
  owner: string,
  token: number,
  callMs: number,
): Promise<boolean> {
  return runner.request({
    script: quorum.agree,
    keys: both,
    args: (terms) => quorum.agreeArgs({ owner, token }, terms),
    read: quorum.readAgree,
    callMs,
  })
}
