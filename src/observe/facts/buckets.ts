/**
 * The bounds of histograms about waits, in seconds. The smallest bound is about one round trip for
 * a free lock.
 */
export const WAITS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]
/** The bounds of histograms about holds, in seconds. */
export const HOLDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800]
/**
 * The bounds of histograms about the requests of the watchdog, in seconds: how long they take, and
 * how late they are sent.
 */
export const REQUESTS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
