import type { Gone, Granted } from '../answers.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import { askAll, type Vote } from './ask-all.ts'
import { answersOf } from './majority.ts'
import type { Master } from './master.ts'

/** What a majority of masters is asked about one name. */
export class TokenAgreement {
  readonly #masters: readonly Master[]
  readonly #majority: number

  constructor(masters: readonly Master[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /**
   * The name is not used again: what was granted in it is freed, also where the answer is yet to come.
   *
   * @param fromMs when to free it, on `performance.now()`; at once where it is left out
   */
  abandon(keys: LockKeys, owner: string, fromMs?: number): Gone {
    for (const master of this.#masters) master.abandon(keys, owner, fromMs)
    return { kind: 'gone' }
  }

  /**
   * Makes a majority know the highest token that was issued. Where their counters were in step
   * nothing is to be sent.
   *
   * @returns the grant of all; null when a majority could not be told
   */
  async agree(
    keys: LockKeys,
    owner: string,
    granted: readonly Vote<Master, Granted>[],
    callMs: number,
  ): Promise<Granted | null> {
    const token = Math.max(...granted.map(({ answer }) => answer.token))
    // Below the tokens that all of them reserved is what any of them has issued before.
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
