import type { ServerClient } from '../../servers/open-server.ts'
import type { ClockFacts } from './facts.ts'

const MOST_SAMPLES = 20
const FEWEST_SAMPLES = 3
/**
 * After this time, in milliseconds, `FEWEST_SAMPLES` requests are enough, because the server is
 * slow.
 */
const LONGEST_MS = 1_000

/**
 * Asks for the server time several times, one request after the other. The fastest answer gives the
 * clock difference, because its error is the smallest.
 */
export async function readClock(client: ServerClient): Promise<ClockFacts> {
  const trips: number[] = []
  let best = { tripMs: Infinity, aheadMs: 0 }
  const startedAt = performance.now()
  const isEnough = () =>
    trips.length >= MOST_SAMPLES ||
    (trips.length >= FEWEST_SAMPLES && performance.now() - startedAt > LONGEST_MS)
  while (!isEnough()) {
    const sentAt = performance.now()
    const [seconds, micros] = (await client.send('TIME')) as [string, string]
    const receivedAt = performance.now()
    const tripMs = receivedAt - sentAt
    trips.push(tripMs)
    const serverMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    const ourMs = Date.now() - tripMs / 2
    if (tripMs < best.tripMs) best = { tripMs, aheadMs: serverMs - ourMs }
  }
  trips.sort((a, b) => a - b)
  return {
    samples: trips.length,
    fastestMs: round(trips[0] as number),
    medianMs: round(trips[trips.length >> 1] as number),
    slowestMs: round(trips.at(-1) as number),
    aheadMs: round(best.aheadMs),
    boundMs: round(best.tripMs / 2 + 1), // `Date.now()` is exact to 1 ms.
  }
}

const round = (ms: number): number => Math.round(ms * 100) / 100
