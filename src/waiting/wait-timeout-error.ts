import { HoldfastError } from '../errors.ts'
import type { WhyNotAcquired } from '../why-not-acquired.ts'

/**
 * The lock or the permits were not available within `waitMs`. The call holds nothing, and no longer waits. An outage
 * never causes this error.
 */
export class WaitTimeoutError extends HoldfastError {
  /** How long the call waited, in milliseconds. */
  readonly waitedMs: number
  /**
   * Why the call got nothing, with the holder if it is known. For permits, this is a `WhyNoPermits` with all known
   * holders. Undefined if the client knows nothing about the lock or the permits.
   */
  readonly why: WhyNotAcquired | undefined

  constructor(message: string, lockName: string, waitedMs: number, why?: WhyNotAcquired) {
    super('HOLDFAST_WAIT_TIMEOUT', message, { lockName })
    this.waitedMs = waitedMs
    this.why = why
  }
}

/**
 * Makes the error for a lock that was not acquired within `waitMs` milliseconds.
 *
 * @param waitedMs how long the call has waited, in milliseconds
 * @param why names the holder of the lock, or of one of several locks; undefined if unknown
 */
export function lockTimeout(
  lockName: string,
  waitMs: number,
  waitedMs: number,
  why: WhyNotAcquired | undefined,
): WaitTimeoutError {
  const lock = `Lock "${lockName}"`
  const { text = `${lock} has a holder that is unknown here: inspect() shows the holder.` } =
    why ?? {}
  const holder = text.startsWith(`${lock} `) ? `It${text.slice(lock.length)}` : text
  return new WaitTimeoutError(
    `${lock} was not acquired within ${waitMs} ms (waited ${Math.round(waitedMs)} ms). ` +
      `${holder} Try again later, or use a longer \`waitMs\`. Calls of tryLock() and tryUsing() do not throw this error.`,
    lockName,
    waitedMs,
    why,
  )
}
