import { availableParallelism, loadavg } from 'node:os'

/**
 * A limit in milliseconds that follows the load of the machine: on a machine with four times as many running
 * processes as cores, everything may take four times as long. Without load it is `ms`. It is a whole number, as options require.
 */
export function atLoad(ms: number): number {
  const [load = 0] = loadavg()
  return Math.round(ms * Math.max(1, load / availableParallelism()))
}
