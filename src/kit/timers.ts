/**
 * The longest timer of Node.js, in milliseconds. A longer wait is cut to this time and then checked
 * again.
 */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Work for later in this turn follows this promise: `queueMicrotask` makes an async resource each
 * time.
 */
export const NOW = Promise.resolve()
