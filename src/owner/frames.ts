import { frameStorage } from '../kit/frame-storage.ts'
import type { Owner } from './owner.ts'

/** A lock that code in a frame of `using` re-enters, and as whom. */
export interface Carried {
  /** Sets the locks of one client, and of one place where they live, apart from all others. */
  readonly place: object
  readonly lock: string
  readonly owner: Owner
}

/** Code that acts for somebody: what runs in it, and what that has started, until it ends. */
interface Frame {
  /** Of a frame of `run`: whose it is, and for whom all inside acts. */
  thread: { readonly of: Frames; readonly owner: Owner } | undefined
  /** Of a frame of `using`: what it was opened for, and nothing else. */
  carried: readonly Carried[]
  over: boolean
  outer: Frame | undefined
}

/**
 * The frames of one client: which owners the running code acts for, innermost first.
 *
 * `run` opens a frame as `AsyncLocalStorage` does, and nothing else does. (`enterWith` would leak it
 * into the caller and its siblings, who would then share the lock.)
 */
export class Frames {
  /** Calls `fn` in a frame that acts for this owner with any lock, and ends with `fn`. */
  run<T>(owner: Owner, fn: () => T): T {
    const frame = newFrame({ of: this, owner }, [])
    const end = () => endOf(frame)
    let result: T
    try {
      result = frameStorage.run(frame, fn)
    } catch (error) {
      end()
      throw error
    }
    if (!isThenable(result)) {
      end()
      return result
    }
    // Not beside it: a rejection that nobody handles would then be told twice, or never.
    return result.then(
      (value) => {
        end()
        return value
      },
      (error: unknown) => {
        end()
        throw error
      },
    ) as T
  }

  /** The owner of the innermost frame of `run`; undefined outside any. */
  thread(): Owner | undefined {
    for (let frame = current(); frame !== undefined; frame = frame.outer) {
      if (frame.thread?.of === this) return frame.thread.owner
    }
    return undefined
  }

  /** The first owner, from the innermost frame outwards, who may have that lock and is accepted. */
  find(
    place: object,
    lock: string,
    accepts: (owner: Owner) => boolean = () => true,
  ): Owner | undefined {
    for (let frame = current(); frame !== undefined; frame = frame.outer) {
      const { thread, carried } = frame
      const owner =
        thread?.of === this
          ? thread.owner
          : carried.find((one) => one.place === place && one.lock === lock)?.owner
      if (owner !== undefined && accepts(owner)) return owner
    }
    return undefined
  }
}

/** A frame of `using`, which carries these locks, of whatever clients, until `end` is called. */
export function frameOf(carried: readonly Carried[]) {
  const frame = newFrame(undefined, carried)
  return {
    run: <T>(fn: () => T): T => frameStorage.run(frame, fn),
    end: () => endOf(frame),
  }
}

/** The innermost frame that the running code is in, of whatever client; undefined outside any. */
export function innermostFrame(): object | undefined {
  return current()
}

/** Whether the running code is in that frame. */
export function isInside(wanted: object): boolean {
  for (let frame = current(); frame !== undefined; frame = frame.outer) {
    if (frame === wanted) return true
  }
  return false
}

function newFrame(thread: Frame['thread'], carried: readonly Carried[]): Frame {
  const outer = current()
  // Those that are over would else be kept for as long as one is opened from within another.
  for (let frame = outer; frame !== undefined; frame = frame.outer)
    frame.outer = ongoing(frame.outer)
  return { thread, carried, over: false, outer }
}

/** Timers and connections may keep the frame that they were made in: it forgets for whom it acted. */
function endOf(frame: Frame): void {
  frame.over = true
  frame.thread = undefined
  frame.carried = []
}

function current(): Frame | undefined {
  return ongoing(frameStorage.getStore() as Frame | undefined)
}

/** What was started in a frame and goes on after its end is in those around it only. */
function ongoing(frame: Frame | undefined): Frame | undefined {
  let one = frame
  while (one?.over) one = one.outer
  return one
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
