import { FOREVER } from '../record-store.ts'
import { timeUs } from './moments.ts'
import type { OpenRecord, RecordPart } from './open-record.ts'

/** The last token of a name. All kinds of locks, and permits, share this token. */
export interface TokenCounter {
  /** 0 if the server remembers no token. */
  token: number
  /** When the server forgets the token, in ms of the server's time. */
  endsAt: number
}

/** The two times that decide how long the server remembers a token. */
export interface TokenTerms {
  readonly leaseMs: number
  /** How long the server remembers the last token, in milliseconds; 0 means forever. */
  readonly counterMs: number
}

interface NewToken extends TokenTerms {
  /** The number of tokens to reserve below the new token. */
  readonly reserve?: number
  /**
   * A token that the caller knows. The new token is higher, even if the server has forgotten this
   * token.
   */
  readonly above?: number
}

export const COUNTER: RecordPart<TokenCounter> = {
  name: 'counter',
  newState: () => ({ token: 0, endsAt: 0 }),
  expire(counter, nowMs) {
    if (counter.endsAt < nowMs) Object.assign(counter, { token: 0, endsAt: 0 })
  },
  untilMs: ({ endsAt }) => endsAt,
}

/** Returns the last token that was issued; 0 if the server remembers no token. */
export function lastToken(record: OpenRecord): number {
  return record.part(COUNTER).token
}

/**
 * Issues the next token of a name. The token is higher than all earlier tokens, even when the
 * server has forgotten them.
 */
export function mint(record: OpenRecord, minting: NewToken): number {
  const { reserve = 0, above = 0 } = minting
  const least = Math.max(lastToken(record), above) + 1
  const token = Math.max(least, record.uniqueUs(reserve)) + reserve
  setCounter(record, token, minting)
  return token
}

/**
 * Stores the last token for `counterMs` or `leaseMs`, whichever is longer. If the token is ahead of
 * the clock, this time begins when the clock reaches the token. A `counterMs` of 0 stores the token
 * forever.
 */
export function setCounter(
  record: OpenRecord,
  token: number,
  { leaseMs, counterMs }: TokenTerms,
): void {
  const { nowMs } = record
  const aheadMs = Math.max(0, (token - timeUs(nowMs)) / 1_000)
  const keptMs = Math.max(counterMs, leaseMs) + aheadMs
  const counter = record.part(COUNTER)
  counter.token = token
  counter.endsAt = counterMs === 0 ? FOREVER : nowMs + keptMs
}

/** Stores the last token for at least `counterMs` and at least `leaseMs` from now. */
export function extendCounter(record: OpenRecord, { leaseMs, counterMs }: TokenTerms): void {
  const counter = record.part(COUNTER)
  if (counter.token === 0 || counterMs === 0) return
  counter.endsAt = Math.max(counter.endsAt, record.nowMs + Math.max(counterMs, leaseMs))
}
