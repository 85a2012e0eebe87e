// Clocks of servers that are set. Forward, a server ends leases before their time, and nothing tells it;
// back, what was abandoned stays for longer.
import { setTimeout as pause } from 'node:timers/promises'

/**
 * A clock is never further ahead or behind: two masters are less apart than the longest lease, without
 * which a quorum cannot keep its tokens in order when one of them forgets as well.
 */
const MOST_MS = 1_400
const LEAST_STEP_MS = 100

export const CLOCK = ['clock set forward', 'clock set back']

/** @param over told when the clock is set */
export async function setClock(what, server, random, over) {
  const { aheadMs } = server
  const room = what === 'clock set forward' ? MOST_MS - aheadMs : MOST_MS + aheadMs
  const ms = Math.min(LEAST_STEP_MS + random() * room, room)
  await server.setAhead(what === 'clock set forward' ? aheadMs + ms : aheadMs - ms)
  over()
  await pause(random() * 200)
}
