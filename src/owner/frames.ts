import { AsyncLocalStorage } from 'node:async_hooks'
import type { Owner } from './owner.ts'

interface Frame {
  readonly owner: Owner
  readonly outer: Frame | undefined
}

/**
 * The frames of one client: which owners the running code acts for, innermost first.
 *
 * `run` and nothing else opens a frame. (`enterWith` would leak the frame into the caller and its
 * siblings, who would then share the lock.)
 */
export class Frames {
  // Made on first use: on Node 20 an active AsyncLocalStorage costs every promise a little.
  #storage: AsyncLocalStorage<Frame> | undefined

  run<T>(owner: Owner, fn: () => T): T {
    this.#storage ??= new AsyncLocalStorage<Frame>()
    return this.#storage.run({ owner, outer: this.#storage.getStore() }, fn)
  }

  /** The owner of the innermost frame, or undefined outside any. */
  current(): Owner | undefined {
    return this.#storage?.getStore()?.owner
  }

  /** The first owner, from the innermost frame outwards, that the test accepts. */
  find(accepts: (owner: Owner) => boolean): Owner | undefined {
    for (let frame = this.#storage?.getStore(); frame !== undefined; frame = frame.outer) {
      if (accepts(frame.owner)) return frame.owner
    }
    return undefined
  }
}
