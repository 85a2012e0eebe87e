import type { Emit } from '../../events.ts'
import type { Public } from '../../kit/public.ts'
import type { BaseLease } from '../../lease/base-lease.ts'
import { type Carried, frameOf } from '../../owner/frames.ts'

/**
 * Does the work in a frame that carries what is held, and releases the lease whatever comes of it.
 * Rejects where the work ended well and the lease had been lost before.
 */
export async function runWhileHeld<T>(
  lease: Public<BaseLease>,
  carried: readonly Carried[],
  work: () => Promise<T> | T,
  tell: Emit,
): Promise<T> {
  const frame = frameOf(carried)
  let result: T
  let wasHeld = true
  try {
    result = await frame.run(work)
  } finally {
    frame.end()
    wasHeld = await lease.release().catch((error: Error) => {
      tell('error', error)
      return true
    })
  }
  if (!wasHeld) throw lease.over()
  return result
}
