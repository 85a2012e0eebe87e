import { AsyncLocalStorage } from 'node:async_hooks'
import type { Owner } from './owner.ts'

interface Frame {
  readonly of: Frames
  readonly owner: Owner
  readonly outer: Frame | undefined
}

// One for all clients: on Node 20 each that was ever used costs every promise a little, for good.
const storage = new AsyncLocalStorage<Frame>()

/**
 * The frames of one client: which owners the running code acts for, innermost first.
 *
 * `run` and nothing else opens a frame. (`enterWith` would leak the frame into the caller and its
 * siblings, who would then share the lock.)
 */
export class Frames {
  run<T>(owner: Owner, fn: () => T): T {
    return storage.run({ of: this, owner, outer: storage.getStore() }, fn)
  }

  /** The owner of the innermost frame, or undefined outside any. */
  current(): Owner | undefined {
    return this.find(() => true)
  }

  /** The first owner, from the innermost frame outwards, that the test accepts. */
  find(accepts: (owner: Owner) => boolean): Owner | undefined {
    for (let frame = storage.getStore(); frame !== undefined; frame = frame.outer) {
      if (frame.of === this && accepts(frame.owner)) return frame.owner
    }
    return undefined
  }
}
