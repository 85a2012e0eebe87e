import { LeaseLostError, type LossReason, OF_LOCK } from '../errors.ts'
import type { HoldKind } from './hold-kind.ts'
import { validityMs } from './validity.ts'

interface LostHold {
  readonly lockName: string
  readonly token: number
  readonly kind: HoldKind
  readonly renewMs: number
  readonly limitAt: number
  readonly limitMs: number
  readonly drainMs: number | undefined
}

interface LastProof {
  readonly sentAt: { readonly monotonic: number }
  readonly validForMs: number
}

export const GONE =
  'the server reports that this owner no longer holds it. The server may have restarted, failed over, been flushed or ' +
  'evicted the key, or another client used force'

/**
 * Makes the error for the loss of a hold.
 *
 * @param how the cause of the loss, as a part of the message
 */
export function lossOf(hold: LostHold, reason: LossReason, how: string): LeaseLostError {
  const { lockName, token } = hold
  const { noun } = hold.kind.words ?? OF_LOCK
  return new LeaseLostError(
    `The lease of ${noun.toLowerCase()} "${lockName}" (token ${token}) was lost: ${how}. ` +
      'Stop the work that it protects. Work since then may have overlapped with another holder.',
    lockName,
    reason,
    token,
  )
}

/**
 * True if the hold ended because the watchdog does not renew a lease beyond the limit of the hold.
 * The last lease then lasted until the limit.
 *
 * @param overAt when the validity ended, on the monotonic clock
 */
export function isAtLimit({ renewMs, limitAt }: LostHold, overAt: number): boolean {
  return overAt + renewMs - validityMs(renewMs) >= limitAt
}

/** Returns the name of the option that limits how long the watchdog renews the hold. */
export function limitOf({ drainMs }: Pick<LostHold, 'drainMs'>): 'maxHoldMs' | 'maxDrainMs' {
  return drainMs === undefined ? 'maxHoldMs' : 'maxDrainMs'
}

/** Returns the option that limits the hold, with its value, as a part of a message. */
export function limitWords(hold: Pick<LostHold, 'drainMs' | 'limitMs'>): string {
  return `\`${limitOf(hold)}\` of ${hold.drainMs ?? hold.limitMs} ms`
}

/**
 * Returns why the validity of the hold ended, as a part of the message.
 *
 * @param proof the last proof of the lease
 * @param agoMs how long ago the request of this proof was sent, in milliseconds
 */
export function howItRanOut(
  hold: LostHold,
  { sentAt, validForMs }: LastProof,
  agoMs: number,
): string {
  if (isAtLimit(hold, sentAt.monotonic + validForMs)) {
    return `its ${limitWords(hold)} is over, so it is no longer renewed`
  }
  const kind = hold.renewMs > 0 ? 'renewed' : 'fixed'
  return (
    `its time ran out; the ${kind} lease was last confirmed ${Math.round(agoMs)} ms ago, ` +
    `and was valid for ${Math.round(validForMs)} ms`
  )
}
