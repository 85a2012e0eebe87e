import { ClosedError, LeaseLostError, NotReleasedError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { show } from '../kit/show.ts'
import { leaseBehind } from './base-lease.ts'

/**
 * Does the work, and releases the lease whatever comes of it. Where the lease was over before, it rejects with
 * what ended it, and the error of the work is the cause of that.
 */
export async function workAndRelease<T>(
  handle: object,
  work: () => Promise<T> | T,
  tell: Emit,
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
    tell('error', error)
    return !lease.wasLost
  })
  if (!wasHeld) throw done === undefined ? withCause(lease.over(), thrown) : lease.over()
  if (done === undefined) throw thrown
  return done.result
}

/** Whether an error tells of that loss, be it with what the work made of it. */
export function isOfLoss(error: unknown, loss: unknown): boolean {
  if (error === loss) return true
  if (!(error instanceof LeaseLostError && loss instanceof LeaseLostError)) return false
  return error.token === loss.token && error.lockName === loss.lockName
}

/** What ended a lease under work that failed as well: a new error, for `over` is the reason of a signal. */
function withCause(over: Error, thrown: unknown): unknown {
  if (isOfLoss(thrown, over)) return thrown
  const { name, message: said } = Object(thrown)
  const what = typeof said === 'string' ? `${name}: ${said}` : show(thrown)
  const more = ` The work also failed. Its error is the cause of this error: ${what}`
  const { message } = over
  if (over instanceof LeaseLostError) {
    const { lockName = '', reason, token } = over
    return new LeaseLostError(message + more, lockName, reason, token, thrown)
  }
  if (over instanceof NotReleasedError) {
    return new NotReleasedError(over.errors, over.lockName ?? '', thrown, `\n${more.trim()}`)
  }
  if (over instanceof ClosedError) return new ClosedError(message + more, over.lockName, thrown)
  return thrown
}
