import { HoldfastError } from '../errors.ts'
import type { ReleaseRequestedEvent, Requester } from '../events.ts'

/**
 * Another client asks the holder to release the lock soon: the reason of the signal `releaseRequested` of its leases.
 */
export class ReleaseRequestedError extends HoldfastError {
  /** The fencing token of the hold. */
  readonly token: number
  /** The reason in the words of the requester; null if it gave none. */
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
