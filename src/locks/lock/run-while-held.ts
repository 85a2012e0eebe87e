import type { Emit } from '../../events.ts'
import { workAndRelease } from '../../lease/work-and-release.ts'
import { type Carried, frameOf } from '../../owner/frames.ts'

/** Does the work in a frame that carries what is held, and releases the lease whatever comes of it. */
export function runWhileHeld<T>(
  lease: object,
  carried: readonly Carried[],
  work: () => Promise<T> | T,
  tell: Emit,
): Promise<T> {
  const frame = frameOf(carried)
  const inFrame = async () => {
    try {
      return await frame.run(work)
    } finally {
      frame.end()
    }
  }
  return workAndRelease(lease, inFrame, tell)
}
