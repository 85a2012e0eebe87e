import { LeaseLostError, type LossReason, OF_LOCK } from '../errors.ts'
import type { HoldKind } from './hold-kind.ts'
import { validityMs } from './validity.ts'

/** What of a hold tells how it was lost. */
interface Hold {
  readonly lockName: string
  readonly token: number
  readonly kind: HoldKind
  readonly leaseMs: number
  readonly renewMs: number
  readonly beganAt: number
  readonly limitAt: number
}

/** @param how it was lost, in words for people */
export function lossOf(hold: Hold, reason: LossReason, how: string): LeaseLostError {
  const { lockName, token } = hold
  const { noun } = hold.kind.words ?? OF_LOCK
  return new LeaseLostError(
    `The lease of ${noun.toLowerCase()} "${lockName}" (token ${token}) was lost: ${how}. ` +
      'Stop the work that it protects; what was done since may have overlapped with another holder.',
    lockName,
    reason,
    token,
  )
}

/** Whether a proof that is good until then went to the end of `maxHoldMs`, after which none comes. */
export function isAtLimit({ leaseMs, limitAt }: Hold, overAt: number): boolean {
  return overAt + leaseMs - validityMs(leaseMs) >= limitAt
}

/**
 * Why the time of a hold is up.
 *
 * @param overAt until when its last proof was good, on the monotonic clock
 * @param agoMs when that was sent
 */
export function howItRanOut(hold: Hold, overAt: number, agoMs: number): string {
  const { leaseMs, limitAt, beganAt, renewMs } = hold
  if (isAtLimit(hold, overAt)) {
    const heldMs = Math.round(limitAt - beganAt)
    return `its \`maxHoldMs\` of ${heldMs} ms is over, beyond which it is not renewed`
  }
  const kind = renewMs > 0 ? 'the watched lease' : 'the fixed lease'
  return `its time ran out; ${kind} of ${leaseMs} ms was last confirmed ${Math.round(agoMs)} ms ago`
}
