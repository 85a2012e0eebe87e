import type { WhyNotAcquired } from '../errors.ts'
import { HoldfastError } from '../errors.ts'

/**
 * The lock, or the permits, were not to be had within `waitMs`. Nothing is held, or left behind. Never used for an
 * outage.
 */
export class WaitTimeoutError extends HoldfastError {
  /** How long the call has waited, in milliseconds. */
  readonly waitedMs: number
  /** Who had the lock, or permits (then a `WhyNoPermits`), as far as that is known. */
  readonly why: WhyNotAcquired | undefined

  constructor(message: string, lockName: string, waitedMs: number, why?: WhyNotAcquired) {
    super('HOLDFAST_WAIT_TIMEOUT', message, { lockName })
    this.waitedMs = waitedMs
    this.why = why
  }
}

/**
 * @param held who has it in this client
 * @param others who has it elsewhere, in words that follow "it"
 */
export function lockTimeout(
  lockName: string,
  waitMs: number,
  waitedMs: number,
  held: readonly { lockName: string; token: number; id: { wireOwner: string } }[],
  others?: string,
  why?: WhyNotAcquired,
): WaitTimeoutError {
  const [first] = held
  const who =
    first === undefined
      ? others === undefined
        ? 'Nobody in this client has it: inspect() tells who does.'
        : `It ${others}.`
      : `This client has it itself: "${first.lockName}" as ${first.id.wireOwner}, token ${first.token}. If that is ` +
        'code around this call, let it re-enter, inside using() or run().'
  return new WaitTimeoutError(
    `Lock "${lockName}" was not acquired within ${waitMs} ms (waited ${Math.round(waitedMs)} ms). ` +
      `${who} Try again later, or with a longer \`waitMs\`; for tryLock() and tryUsing() it is no error.`,
    lockName,
    waitedMs,
    why,
  )
}
