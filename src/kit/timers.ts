/** The longest timer of Node.js, in milliseconds. A longer wait needs several timers. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * A resolved promise. Its `then` runs a function later in this turn of the event loop.
 * `queueMicrotask` would create an async resource for each call.
 */
export const NOW = Promise.resolve()
