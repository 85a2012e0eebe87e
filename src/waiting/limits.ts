import type { Clock } from '../kit/clock.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { ServerWords } from '../servers/server-words.ts'
import type { ResponseTime } from './response-time.ts'

/** The time limits of one client, and what its errors say about the server. */
export interface Limits {
  readonly clock: Clock
  /** The time limit of one request to the server, in milliseconds. */
  readonly commandTimeoutMs: number
  /**
   * How long a call tolerates temporary refusals, in ms. A call without a wait tolerates an outage for this time too.
   */
  readonly outageMs: number
  /**
   * Returns how long a call with this `waitMs` tolerates an outage, in milliseconds. For `waitMs`, 0 means no wait, and
   * Infinity means no limit.
   */
  readonly patienceMs: (waitMs: number) => number
  readonly responseTime: ResponseTime
  /** The words of errors about the server. */
  readonly words: ServerWords
  /** The address of a single server, without its login. Undefined for several servers. */
  readonly address?: string | undefined
  /** Returns why the connection is down; undefined if the connection is up or its state is unknown. */
  readonly whyDown: () => CallFailure | undefined
}
