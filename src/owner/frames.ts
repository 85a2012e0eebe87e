import { frameStorage } from '../kit/frame-storage.ts'
import type { Owner } from './owner.ts'

/** A lock that code in a frame of `using` can re-enter, with the owner that holds the lock. */
export interface Carried {
  /**
   * The object with all locks of one client on one server or quorum. Frames use this object only
   * for comparison.
   */
  readonly registry: object
  readonly lock: string
  readonly owner: Owner
}

/** The code inside `run` or `using`, with all code that this code starts, until the frame ends. */
interface Frame {
  /**
   * For `run`: the client of the frame, and the owner of all acquisitions in the frame. Undefined
   * for `using`, and after the end of the frame.
   */
  thread: { readonly of: Frames; readonly owner: Owner } | undefined
  /** For `using`: the locks of the frame. Empty for `run`, and after the end of the frame. */
  carried: readonly Carried[]
  hasEnded: boolean
  outer: Frame | undefined
}

/**
 * Finds the owners of the running code in one client, from the innermost frame outwards.
 *
 * Frames use `AsyncLocalStorage.run`. `enterWith` would also put the caller and its other tasks
 * into the frame, and these tasks would share the locks of the frame.
 */
export class Frames {
  /**
   * Calls `fn` in a new frame, in which `owner` makes all acquisitions. The frame ends when `fn`
   * returns, or when the promise of `fn` settles.
   */
  run<T>(owner: Owner, fn: () => T): T {
    const frame = newFrame({ of: this, owner }, [])
    const endFrame = () => endOf(frame)
    let result: T
    try {
      result = frameStorage.run(frame, fn)
    } catch (error) {
      endFrame()
      throw error
    }
    if (!isThenable(result)) {
      endFrame()
      return result
    }
    // The caller gets the chained promise, and not the original promise. Otherwise Node.js would
    // report a rejection of the chained promise as unhandled.
    return result.then(
      (value) => {
        endFrame()
        return value
      },
      (error: unknown) => {
        endFrame()
        throw error
      },
    ) as T
  }

  /** Returns the owner of the innermost frame of `run`; undefined outside such frames. */
  thread(): Owner | undefined {
    for (let frame = current(); frame !== undefined; frame = frame.outer) {
      if (frame.thread?.of === this) return frame.thread.owner
    }
    return undefined
  }

  /**
   * Returns the first owner for this lock that `accepts` allows, from the innermost frame outwards.
   * Undefined if there is no such owner.
   */
  find(
    registry: object,
    lock: string,
    accepts: (owner: Owner) => boolean = () => true,
  ): Owner | undefined {
    for (let frame = current(); frame !== undefined; frame = frame.outer) {
      const { thread, carried } = frame
      const owner =
        thread?.of === this
          ? thread.owner
          : carried.find((one) => one.registry === registry && one.lock === lock)?.owner
      if (owner !== undefined && accepts(owner)) return owner
    }
    return undefined
  }
}

/**
 * Makes a frame of `using` for these locks, which may belong to several clients. The frame ends
 * when `endFrame` is called.
 */
export function frameOf(carried: readonly Carried[]) {
  const frame = newFrame(undefined, carried)
  return {
    run: <T>(fn: () => T): T => frameStorage.run(frame, fn),
    endFrame: () => endOf(frame),
  }
}

/** Returns the innermost frame of the running code, of any client. Undefined outside all frames. */
export function innermostFrame(): object | undefined {
  return current()
}

export function isInside(wanted: object): boolean {
  for (let frame = current(); frame !== undefined; frame = frame.outer) {
    if (frame === wanted) return true
  }
  return false
}

function newFrame(thread: Frame['thread'], carried: readonly Carried[]): Frame {
  const outer = current()
  // This loop removes ended frames from the chain. Code may begin each frame inside the previous
  // frame, and would otherwise keep all of these frames in memory.
  for (let frame = outer; frame !== undefined; frame = frame.outer)
    frame.outer = ongoing(frame.outer)
  return { thread, carried, hasEnded: false, outer }
}

/**
 * Ends a frame, and removes its owners. Timers and connections may keep the frame in memory, but
 * not its owners.
 */
function endOf(frame: Frame): void {
  frame.hasEnded = true
  frame.thread = undefined
  frame.carried = []
}

function current(): Frame | undefined {
  return ongoing(frameStorage.getStore() as Frame | undefined)
}

/**
 * Returns the first frame that has not ended, from `frame` outwards. So code that runs for longer
 * than its frame acts only in the enclosing frames.
 */
function ongoing(frame: Frame | undefined): Frame | undefined {
  let one = frame
  while (one?.hasEnded) one = one.outer
  return one
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
