import type { Granted } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { answersOf, isGranted, type VoteAnswer, type Votes } from './majority.ts'
import type { Voter } from './master/voter.ts'
import { requestAll } from './request-all.ts'

/**
 * Raises the token counters of a majority of masters to the highest token of the grants. Sends no
 * request to masters that granted this token.
 *
 * @param votes with the grants of at least a majority
 * @param onGrant receives the grant with the highest token; null if no majority confirmed this
 * token
 */
export function agreeOnToken(
  keys: LockKeys,
  owner: string,
  votes: Votes<VoteAnswer | Granted, Voter>,
  majority: number,
  callMs: number,
  onGrant: (grant: Granted | null) => void,
): void {
  const granted = votes.filter(isGranted)
  const token = Math.max(...granted.map(({ answer }) => answer.token))
  // The client may use only tokens that all these masters reserved, because another client may
  // already have the lower tokens.
  const reserved = Math.min(...granted.map(({ answer }) => answer.reserved ?? 0))
  const grant = { kind: 'granted', token, reserved } as const
  const behind = granted.filter(({ answer }) => answer.token < token).map(({ member }) => member)
  const known = granted.length - behind.length
  const isConfirmed = (some: Votes<boolean, Voter>) =>
    known + answersOf(some).filter(Boolean).length >= majority
  const request = (master: Voter) => master.agree(keys, owner, token, callMs)
  const confirming = behind.length > 0 ? requestAll(behind, request, isConfirmed) : undefined
  if (known >= majority || confirming === undefined) onGrant(grant)
  else void confirming.then((some) => onGrant(isConfirmed(some) ? grant : null))
}
