import type { Gone, Granted } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { answersOf } from './majority.ts'
import type { Master } from './master.ts'
import { requestAll, type Vote } from './request-all.ts'

/** Sends requests about one owner id to several masters. */
export class TokenAgreement {
  readonly #masters: readonly Master[]
  readonly #majority: number

  constructor(masters: readonly Master[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /**
   * Gives up the owner id on all masters: releases each of its grants, even a grant whose answer
   * has not arrived yet.
   *
   * @param fromMs earliest time of the release, on `performance.now()`; by default at once
   */
  abandon(keys: LockKeys, owner: string, fromMs?: number): Gone {
    for (const master of this.#masters) master.abandon(keys, owner, fromMs)
    return { kind: 'gone' }
  }

  /**
   * Raises the counters of a majority of masters to the highest token of the grants. Masters whose
   * counter has this token already get no request.
   *
   * @returns the grant with the highest token; null if no majority confirmed this token
   */
  async agree(
    keys: LockKeys,
    owner: string,
    granted: readonly Vote<Master, Granted>[],
    callMs: number,
  ): Promise<Granted | null> {
    const token = Math.max(...granted.map(({ answer }) => answer.token))
    // The client may use only tokens that all of these masters reserved. A lower token may have
    // been issued before.
    const reserved = Math.min(...granted.map(({ answer }) => answer.reserved ?? 0))
    const grant = { kind: 'granted', token, reserved } as const
    const behind = granted.filter(({ answer }) => answer.token < token).map(({ member }) => member)
    const known = granted.length - behind.length
    const confirming = requestAll(
      behind,
      (master) => master.agree(keys, owner, token, callMs),
      (some) => known + answersOf(some).filter(Boolean).length >= this.#majority,
    )
    if (known >= this.#majority) return grant
    return known + answersOf(await confirming).filter(Boolean).length >= this.#majority
      ? grant
      : null
  }
}
