import type { Gone, Granted } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { askAll, type Vote } from './ask-all.ts'
import { answersOf } from './majority.ts'
import type { Master } from './master.ts'

/** Requests to a majority of masters about one owner id. */
export class TokenAgreement {
  readonly #masters: readonly Master[]
  readonly #majority: number

  constructor(masters: readonly Master[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /**
   * Gives up the owner id: each grant under it is released, even if its answer has not arrived yet.
   *
   * @param fromMs when to release it, on `performance.now()`; default: at once
   */
  abandon(keys: LockKeys, owner: string, fromMs?: number): Gone {
    for (const master of this.#masters) master.abandon(keys, owner, fromMs)
    return { kind: 'gone' }
  }

  /**
   * Makes a majority know the highest issued token. If the counters are equal, no request is
   * needed.
   *
   * @returns one grant for all; null if no majority confirmed the token
   */
  async agree(
    keys: LockKeys,
    owner: string,
    granted: readonly Vote<Master, Granted>[],
    callMs: number,
  ): Promise<Granted | null> {
    const token = Math.max(...granted.map(({ answer }) => answer.token))
    // Only the range that all of these masters reserved is free. A token below it may have been
    // issued before.
    const reserved = Math.min(...granted.map(({ answer }) => answer.reserved ?? 0))
    const grant = { kind: 'granted', token, reserved } as const
    const behind = granted.filter(({ answer }) => answer.token < token).map(({ member }) => member)
    const known = granted.length - behind.length
    const told = askAll(
      behind,
      (master) => master.agree(keys, owner, token, callMs),
      (some) => known + answersOf(some).filter(Boolean).length >= this.#majority,
    )
    if (known >= this.#majority) return grant
    return known + answersOf(await told).filter(Boolean).length >= this.#majority ? grant : null
  }
}
