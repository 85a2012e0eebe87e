// Faults that set the clocks of servers. If a clock is set forward, the server ends leases too early, and no message
// reports this. If a clock is set back, abandoned locks end later.
import { setTimeout as pause } from 'node:timers/promises'

/**
 * The largest difference between a clock and the real time. So the clocks of two masters differ by less than the
 * longest lease. Otherwise, a quorum cannot keep the order of its tokens if one master also forgets.
 */
const MOST_MS = 1_400
const LEAST_STEP_MS = 100

export const CLOCK = ['clock set forward', 'clock set back']

/** @param over is called when the clock is set */
export async function setClock(what, server, random, over) {
  const { aheadMs } = server
  const room = what === 'clock set forward' ? MOST_MS - aheadMs : MOST_MS + aheadMs
  const ms = Math.min(LEAST_STEP_MS + random() * room, room)
  await server.setAhead(what === 'clock set forward' ? aheadMs + ms : aheadMs - ms)
  over()
  await pause(random() * 200)
}
