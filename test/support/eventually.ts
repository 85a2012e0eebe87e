import { setTimeout as pause } from 'node:timers/promises'
import { atLoad } from './at-load.ts'

export interface EventuallyOptions {
  /** Gives up after this many milliseconds. The default is generous, because only a failure takes that long. */
  timeoutMs?: number
  /** False if the test expects this time to pass, so that the time must not follow the load of the machine. */
  followsLoad?: boolean
  /** Milliseconds between two checks. */
  everyMs?: number
  /** A description of the condition, for the error message. */
  message?: string
}

type Condition<T> = () => T | Promise<T>
type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>

const HUNG = Symbol('hung')

/**
 * Waits until the condition is truthy, and resolves with its value. While the condition throws, it counts as not
 * fulfilled. If the condition hangs, the timeout ends the wait.
 */
export async function eventually<T>(
  condition: Condition<T>,
  {
    timeoutMs = 15_000,
    followsLoad = true,
    everyMs = 3,
    message = 'the condition',
  }: EventuallyOptions = {},
): Promise<Truthy<T>> {
  const deadline = performance.now() + (followsLoad ? atLoad(timeoutMs) : timeoutMs)
  let last = 'it was never answered'
  for (;;) {
    try {
      const value = await within(condition, deadline - performance.now())
      if (value === HUNG) last = `${last}; the last look hung`
      else if (value) return value as Truthy<T>
      else last = `last value: ${String(value)}`
    } catch (error) {
      last = `last error: ${error instanceof Error ? error.message : String(error)}`
    }
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain for ${message} (${last})`)
    }
    await pause(everyMs)
  }
}

/** Waits until the assertions pass. If they never pass, fails with the last failure. */
export async function eventuallyPasses(
  assertions: () => void | Promise<void>,
  options: EventuallyOptions = {},
): Promise<void> {
  await eventually(async () => {
    await assertions()
    return true
  }, options)
}

/** Fails if the condition becomes truthy or throws within `forMs` milliseconds. */
export async function never(
  condition: Condition<unknown>,
  forMs: number,
  { everyMs = 3, message = 'the condition' }: Omit<EventuallyOptions, 'timeoutMs'> = {},
): Promise<void> {
  const start = performance.now()
  const end = start + forMs
  do {
    const value = await condition()
    if (value) {
      const after = Math.round(performance.now() - start)
      throw new Error(`Expected never, but after ${after} ms came ${message}: ${String(value)}`)
    }
    await pause(everyMs)
  } while (performance.now() < end)
}

async function within<T>(condition: Condition<T>, ms: number): Promise<T | typeof HUNG> {
  const watch = new AbortController()
  const timeout = pause(Math.max(ms, 1), HUNG as typeof HUNG, { signal: watch.signal })
  timeout.catch(() => undefined)
  try {
    return await Promise.race([condition(), timeout])
  } finally {
    watch.abort()
  }
}
