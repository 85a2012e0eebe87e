import type { AcquireAnswer, Granted, LeaseToRenew, ReenterAnswer } from '../answers.ts'
import { forcedKey, type LockKeys } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import { reentryOf, sound } from '../redis/lock-bindings.ts'
import { converted, only } from '../redis/scripts/convert.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'
import type { Attempt, Reentry } from '../requests.ts'

/**
 * The answer of a master that may not vote yet. The master votes from `sinceUs` on, a server time
 * in µs. If `sinceUs` is null, the client must enrol the master first.
 */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

const vote = sound(only(quorum.vote, 'granted', 'held', 'forgot'))
const voteAgain = converted(only(quorum.vote, 'granted', 'gone'), reentryOf)

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
  const given = () => {
    onSend()
    return { owner, leaseMs, longestMs, reserve }
  }
  return runner.request(vote, keys, given, callMs)
}

/** Asks a master to raise the hold count of an owner that holds the lock on this master. */
export function reenterByVote(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
  longestMs: number,
): Promise<ReenterAnswer> {
  return runner.request(voteAgain, keys, { owner, leaseMs, longestMs, holds, token }, callMs)
}

/**
 * @returns true if the owner holds the lock on this master and the counter is not below the token
 */
export function agreeAt(
  { runner }: ScriptServer,
  keys: LockKeys,
  owner: string,
  token: number,
  callMs: number,
): Promise<boolean> {
  return runner.request(quorum.agree, keys, { owner, token }, callMs)
}

/**
 * Restores a hold on one master, after a majority has confirmed the hold.
 *
 * @param onAnswer receives the state on this master: `held` if the owner holds the lock, otherwise
 * `gone`
 * @returns a grant for every answer, because the owner id may hold the lock on this master
 */
export function restoreAt(
  { runner }: ScriptServer,
  keys: LockKeys,
  { wireOwner, holds = 1, token = 0 }: LeaseToRenew,
  leaseMs: number,
  timeoutMs: number,
  onAnswer: (answer: 'held' | 'gone') => void,
): Promise<Granted> {
  const names = { ...keys, forced: forcedKey(keys.lock) }
  const given = { owner: wireOwner, holds, leaseMs, token }
  const binding = converted(quorum.restore, ({ kind }): Granted => {
    onAnswer(kind)
    return { kind: 'granted', token }
  })
  return runner.request(binding, names, given, timeoutMs)
}
