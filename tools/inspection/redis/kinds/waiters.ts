import { clientOf } from '../../owner-ids.ts'
import { type Answers, pairs } from '../answers.ts'

/**
 * The start of 2020 as a server time, in µs since 1970. A smaller number is a count and not a time.
 */
const FIRST_US = Date.UTC(2020) * 1_000

/**
 * The longest remaining time of a heartbeat, in milliseconds. A longer time means that the server
 * clock was set back, and the waiter counts as dead.
 */
const MOST_AHEAD_MS = 10_000

/** Returns how long ago a server time was, in milliseconds. Null if the number is not a time. */
export function ageOf(sinceUs: number, nowMs: number): number | null {
  return sinceUs < FIRST_US ? null : Math.max(0, Math.round(nowMs - sinceUs / 1e3))
}

interface QueueNames {
  /**
   * The name of the answer with the queue. The queue has each waiter with the server time at which
   * its wait began, in µs.
   */
  readonly queue: string
  /**
   * The name of the answer with the heartbeats. Each client or waiter has the server time at which
   * its heartbeat ends, in milliseconds. More text may follow after a space.
   */
  readonly alive: string
  /** Returns the access that the waiter requests, read from its heartbeat. */
  wants?(heartbeat: string): string | null
  /** True if only clients have heartbeats, and waiters do not. */
  readonly byClient?: boolean
}

/** Returns the waiters of one queue, in the order of the queue. */
export function waitersOf(
  answers: Answers,
  { queue, alive, wants = () => null, byClient = false }: QueueNames,
) {
  const heartbeats = new Map(pairs(answers.list(alive)))
  const { nowMs } = answers.found
  return pairs(answers.list(queue)).map(([owner, sinceUs]) => {
    const own = byClient ? undefined : heartbeats.get(owner)
    const heartbeat = own ?? heartbeats.get(clientOf(owner)) ?? ''
    const aheadMs = Number.parseInt(heartbeat, 10) - nowMs
    return {
      owner,
      // Null for a reader that upgrades. The score of this reader is not a time: it only puts the
      // reader before all other waiters.
      waitedMs: ageOf(Number(sinceUs), nowMs),
      isDead: !(aheadMs >= 0 && aheadMs <= MOST_AHEAD_MS),
      wants: wants(heartbeat),
    }
  })
}
