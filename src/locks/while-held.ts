import type { Tell } from '../events.ts'

/**
 * Does the work, and releases the lease whatever comes of it.
 *
 * @param lost what to reject with when the work ended well and the lease had been lost before
 */
export async function whileHeld<T>(
  lease: { release(): Promise<boolean> },
  work: () => Promise<T> | T,
  lost: () => Error,
  tell: Tell,
): Promise<T> {
  let result: T
  let wasHeld = true
  try {
    result = await work()
  } finally {
    wasHeld = await lease.release().catch((error: Error) => {
      tell('error', error)
      return true
    })
  }
  if (!wasHeld) throw lost()
  return result
}
