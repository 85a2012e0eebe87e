import { HoldfastError } from '../errors.ts'
import type { ReleaseRequestedEvent, Requester } from '../events.ts'

/**
 * A client or an operator asked the holder to release the lock soon. The signal `releaseRequested` of the holder's
 * leases aborts with this error.
 */
export class ReleaseRequestedError extends HoldfastError {
  /** The fencing token of the hold. */
  readonly token: number
  /** The reason in the words of the requester. Null if the requester gave no reason. */
  readonly reason: string | null
  readonly by: Requester

  constructor({ name, token, reason, by }: ReleaseRequestedEvent, noun = 'Lock') {
    super(
      'HOLDFAST_RELEASE_REQUESTED',
      `${noun} "${name}" (token ${token}): ${by.label} (client ${by.client}) asks for its release` +
        `${reason === null ? '' : `: ${reason}`}. It is still held: release it when the work can stop.`,
      { lockName: name },
    )
    this.token = token
    this.reason = reason
    this.by = by
  }
}
