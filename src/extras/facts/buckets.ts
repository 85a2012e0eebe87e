/** Bounds of histograms, in seconds. A free lock takes one round trip; waits go up to what people put up with. */
export const WAITS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]
/** Of what an application does under a lock. */
export const HOLDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800]
/** Of requests of the watchdog, and how late they are. */
export const REQUESTS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
