import { availableParallelism, loadavg } from 'node:os'

/**
 * The longest limit that the load may cause. It is below the limit of Jest, because a failure by Jest's limit does not
 * name the operation.
 */
const LONGEST_MS = 120_000

/**
 * Returns a time limit in milliseconds that follows the load of the machine. With four times as many running processes
 * as cores, everything may take four times as long. Without load, the limit is `ms`. Options require a whole number.
 */
export function atLoad(ms: number): number {
  const [load = 0] = loadavg()
  const followed = Math.min(ms * Math.max(1, load / availableParallelism()), LONGEST_MS)
  return Math.round(Math.max(ms, followed))
}

const SCALE = Math.min(atLoad(1_000) / 1_000, 4)

/**
 * Returns a time in milliseconds for leases that must be renewed, and for pauses that must be longer than a slow
 * request. A loaded machine stops a process for a second or more. So the time follows the load, up to four times `ms`.
 * All times of a test file follow the same load.
 */
export function scaledMs(ms: number): number {
  return Math.round(ms * SCALE)
}
