import { OF_LOCK } from '../errors.ts'
import { warn } from '../kit/warning.ts'
import type { HoldKind } from '../lease/hold-kind.ts'

/**
 * The client warns about leases shorter than this time, in milliseconds. A process or a network can
 * easily pause for this long.
 */
export const LEAST_LEASE_MS = 200

/**
 * A lease should be at least this many response times long. Renewals and releases of a shorter
 * lease are often late.
 */
const LEAST_ANSWERS = 10

/** If a lease is shorter than this, in milliseconds, the warning asks if the user meant seconds. */
const MAYBE_SECONDS = 1_000

/**
 * `quickestMs` is the shortest response time of the server, in milliseconds. 0 means that the
 * response time is not known yet.
 */
interface QuickestResponse {
  readonly quickestMs: number
}

/** Warns once about a lease that is too short for the connection. */
export class ShortLeases {
  readonly #leastMs: number
  readonly #responseTime: QuickestResponse
  #hasWarned: boolean

  /**
   * @param leastMs the shortest lease without a warning, in milliseconds; 0 means that the client
   *   never warns
   */
  constructor(leastMs: number, responseTime: QuickestResponse) {
    this.#leastMs = leastMs
    this.#responseTime = responseTime
    this.#hasWarned = leastMs === 0
  }

  check(lockName: string, kind: HoldKind, leaseMs: number): void {
    if (this.#hasWarned) return
    const { quickestMs } = this.#responseTime
    const leastMs = Math.max(this.#leastMs, Math.ceil(LEAST_ANSWERS * quickestMs))
    if (leaseMs >= leastMs) return
    this.#hasWarned = true
    const { noun } = kind.words ?? OF_LOCK
    const advice =
      leastMs === this.#leastMs
        ? `Use at least ${leastMs} ms`
        : `Each answer of this server takes ${Math.round(quickestMs)} ms or more: use at least ${leastMs} ms`
    const meant = (leaseMs * 1_000).toLocaleString('en').replaceAll(',', '_')
    warn(
      'HOLDFAST_SHORT_LEASE',
      `${noun} "${lockName}": a lease of ${leaseMs} ms is too short. A pause of the process or the network ` +
        `can be longer, and then the lease is lost. ${advice}. ` +
        `Times are milliseconds${leaseMs < MAYBE_SECONDS ? `: did you mean ${meant}?` : '.'} This client warns once.`,
    )
  }
}
