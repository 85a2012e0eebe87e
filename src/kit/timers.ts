/** What a timer of Node.js can count, in milliseconds; a longer wait is cut here, and whoever waits looks again. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What is to be done later in this turn follows it: `queueMicrotask` makes an async resource each time. */
export const NOW = Promise.resolve()
