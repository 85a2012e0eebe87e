/**
 * The bounds of histograms about waits, in seconds: from one round trip for a free lock to a long
 * wait.
 */
export const WAITS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]
/** The bounds of histograms about holds, in seconds. */
export const HOLDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800]
/**
 * The bounds of histograms about requests of the watchdog, in seconds: their duration and their
 * lateness.
 */
export const REQUESTS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
