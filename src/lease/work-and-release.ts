import { ClosedError, LeaseLostError, NotReleasedError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { show } from '../kit/show.ts'
import { leaseBehind } from './base-lease.ts'

/**
 * Runs the work, and then releases the lease even if the work has failed. If the lease ended before
 * this release, rejects with the reason of its end. If the work has failed too, its error is
 * usually the `cause` of the rejection. Emits `error` if the release was not confirmed.
 */
export async function workAndRelease<T>(
  handle: object,
  work: () => Promise<T> | T,
  emit: Emit,
): Promise<T> {
  const lease = leaseBehind(handle)
  let done: { readonly result: T } | undefined
  let thrown: unknown
  try {
    done = { result: await work() }
  } catch (error) {
    thrown = error
  }
  const wasHeld = await lease.release().catch((error: Error) => {
    emit('error', error)
    return !lease.wasLost
  })
  if (!wasHeld) throw done === undefined ? withCause(lease.whyEnded(), thrown) : lease.whyEnded()
  if (done === undefined) throw thrown
  return done.result
}

/**
 * True if both errors report the same loss. They are then the same object, or have the same lock
 * and token.
 */
export function isOfLoss(error: unknown, loss: unknown): boolean {
  if (error === loss) return true
  if (!(error instanceof LeaseLostError && loss instanceof LeaseLostError)) return false
  return error.token === loss.token && error.lockName === loss.lockName
}

/**
 * Makes the error for a lease that ended while its work failed. The function does not change
 * `ending`, because this object may also be the reason of a signal.
 */
function withCause(ending: Error, thrown: unknown): unknown {
  if (isOfLoss(thrown, ending)) return thrown
  const { name, message: said } = Object(thrown)
  const what = typeof said === 'string' ? `${name}: ${said}` : show(thrown)
  const more = ` The work also failed. Its error is the cause of this error: ${what}`
  const { message } = ending
  if (ending instanceof LeaseLostError) {
    const { lockName = '', reason, token } = ending
    return new LeaseLostError(message + more, lockName, reason, token, thrown)
  }
  if (ending instanceof NotReleasedError) {
    return new NotReleasedError(ending.errors, ending.lockName ?? '', thrown, `\n${more.trim()}`)
  }
  if (ending instanceof ClosedError) return new ClosedError(message + more, ending.lockName, thrown)
  return thrown
}
