/**
 * The longest timer of Node.js, in milliseconds. For a longer wait, the timer fires after this
 * time, and the code checks the remaining time.
 */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * A resolved promise. Work that must run later in this turn is chained to it, because
 * `queueMicrotask` makes an async resource for each call.
 */
export const NOW = Promise.resolve()
