import { OF_LOCK } from '../errors.ts'
import { warn } from '../kit/warning.ts'
import type { HoldKind } from '../lease/hold-kind.ts'

/** In less than this a process or a network may well pause, in milliseconds. */
export const LEAST_LEASE_MS = 200

/** A lease shorter than this many answers of the server is hardly ever renewed or released in time. */
const LEAST_ANSWERS = 10

/** A time that was meant as seconds is shorter than this, in milliseconds. */
const MAYBE_SECONDS = 1_000

/** How long each answer of a server takes at least, in milliseconds; 0 while that is not known. */
interface ResponseTime {
  readonly quickestMs: number
}

/** Warns once for each client of leases that are too short for its connection. */
export class ShortLeases {
  readonly #leastMs: number
  readonly #responseTime: ResponseTime
  #isTold: boolean

  /** @param leastMs a shorter lease is hardly of use at this place, in milliseconds; 0 if any may be */
  constructor(leastMs: number, responseTime: ResponseTime) {
    this.#leastMs = leastMs
    this.#responseTime = responseTime
    this.#isTold = leastMs === 0
  }

  /** A lease of this client was granted. */
  granted(lockName: string, kind: HoldKind, leaseMs: number): void {
    if (this.#isTold) return
    const { quickestMs } = this.#responseTime
    const leastMs = Math.max(this.#leastMs, Math.ceil(LEAST_ANSWERS * quickestMs))
    if (leaseMs >= leastMs) return
    this.#isTold = true
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
