import { resolve, sep } from 'node:path'

/**
 * This file finds pending timers that `src/` or `tools/` made. Node.js does not list an unref'd timer, which keeps no
 * process alive but still runs code later. So `watchTimers` wraps the global timer functions.
 */
const SOURCES = ['src', 'tools'].map((folder) => resolve(__dirname, '..', '..', folder) + sep)

/**
 * Pending timers. The error of each timer has the stack of its creation, which is read only if the timer is still
 * pending.
 */
const pending = new Map<object, Error>()

/** Returns how many timers of `src/` and `tools/` are pending, for each place in the code that made timers. */
export function pendingSourceTimers(): Map<string, number> {
  const places = new Map<string, number>()
  for (const made of pending.values()) {
    const place = creatorOf(made)
    if (place !== undefined && SOURCES.some((folder) => place.includes(folder)))
      places.set(place, (places.get(place) ?? 0) + 1)
  }
  return places
}

/** Wraps the global timer functions of this test file's realm. */
export function watchTimers(): void {
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  type Callback = (...args: unknown[]) => void

  const watched = <Timer extends NodeJS.Timeout>(timer: Timer, made: Error): Timer => {
    pending.set(timer, made)
    const refresh = timer.refresh.bind(timer)
    timer.refresh = () => {
      pending.set(timer, made)
      return refresh()
    }
    return timer
  }
  const setWatchedTimeout = (callback: Callback, ms?: number, ...args: unknown[]) => {
    const timer = setTimeout(
      (...given: unknown[]) => {
        pending.delete(timer)
        callback(...given)
      },
      ms,
      ...args,
    )
    return watched(timer, new Error())
  }
  const setWatchedInterval = (callback: Callback, ms?: number, ...args: unknown[]) =>
    watched(setInterval(callback, ms, ...args), new Error())
  const clearWith = (clear: typeof clearTimeout) => (timer: NodeJS.Timeout | undefined) => {
    if (typeof timer === 'object' && timer !== null) pending.delete(timer)
    clear(timer)
  }
  Object.assign(globalThis, {
    // `util.promisify` needs the properties of the original function.
    setTimeout: Object.defineProperties(
      setWatchedTimeout,
      Object.getOwnPropertyDescriptors(setTimeout),
    ),
    setInterval: setWatchedInterval,
    clearTimeout: clearWith(clearTimeout),
    clearInterval: clearWith(clearInterval),
  })
}

/** All files of `src/` make their timers through this file. */
const CLOCK = resolve(__dirname, '../../src/kit/clock.ts')

/** Returns the first frame of the stack outside this file and outside `clock.ts`. */
function creatorOf(made: Error): string | undefined {
  const frames = made.stack?.split('\n').slice(1) ?? []
  return frames.find((frame) => !frame.includes(__filename) && !frame.includes(CLOCK))?.trim()
}
