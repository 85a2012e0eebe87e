import type { Emit } from '../../events.ts'
import { workAndRelease } from '../../lease/work-and-release.ts'
import { type Carried, frameOf } from '../../owner/frames.ts'

/**
 * Runs the work in a frame that carries the held locks. Then releases the lease, even if the work
 * failed.
 */
export function runWhileHeld<T>(
  lease: object,
  carried: readonly Carried[],
  work: () => Promise<T> | T,
  emit: Emit,
): Promise<T> {
  const frame = frameOf(carried)
  const inFrame = async () => {
    try {
      return await frame.run(work)
    } finally {
      frame.endFrame()
    }
  }
  return workAndRelease(lease, inFrame, emit)
}
