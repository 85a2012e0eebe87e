import { resolve, sep } from 'node:path'

/**
 * Timers of the library that nobody has cleared. An unref'd timer keeps no process alive and is in no
 * list of Node's, but it still runs code later: so the global functions are wrapped to see them.
 */
const SOURCES = ['src', 'tools'].map((folder) => resolve(__dirname, '..', '..', folder) + sep)

/** The timer, and an error that knows where it was made; its stack is read only when it is pending. */
const pending = new Map<object, Error>()

/** How many timers made by a file of `src/` or `tools/` are pending, by the place that made them. */
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
    // What hangs on the function, as `util.promisify` expects it, stays.
    setTimeout: Object.defineProperties(
      setWatchedTimeout,
      Object.getOwnPropertyDescriptors(setTimeout),
    ),
    setInterval: setWatchedInterval,
    clearTimeout: clearWith(clearTimeout),
    clearInterval: clearWith(clearInterval),
  })
}

/** All of `src/` asks it for timers. */
const CLOCK = resolve(__dirname, '../../src/kit/clock.ts')

/** The first frame of the stack outside of this file and of the clock. */
function creatorOf(made: Error): string | undefined {
  const frames = made.stack?.split('\n').slice(1) ?? []
  return frames.find((frame) => !frame.includes(__filename) && !frame.includes(CLOCK))?.trim()
}
