import { availableParallelism, loadavg } from 'node:os'

/** A limit that only follows the load is not longer: the test fails by it before the limit of Jest, which names nothing. */
const LONGEST_MS = 120_000

/**
 * A limit in milliseconds that follows the load of the machine: on a machine with four times as many running
 * processes as cores, everything may take four times as long. Without load it is `ms`. It is a whole number, as options require.
 */
export function atLoad(ms: number): number {
  const [load = 0] = loadavg()
  const followed = Math.min(ms * Math.max(1, load / availableParallelism()), LONGEST_MS)
  return Math.round(Math.max(ms, followed))
}

const SCALE = Math.min(atLoad(1_000) / 1_000, 4)

/**
 * A time in milliseconds, for leases that must be renewed and for pauses that are longer than a slow request. A loaded
 * machine stops a process for a second or more, so the time follows the load, and is at most four times `ms`. All times
 * of a test file follow the same load.
 */
export function scaledMs(ms: number): number {
  return Math.round(ms * SCALE)
}
