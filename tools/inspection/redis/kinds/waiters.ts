import { clientOf } from '../../owner-ids.ts'
import { type Answers, pairs } from '../answers.ts'

/** The start of 2020, in µs since 1970. A smaller number is a count and not a time. */
const FIRST_US = Date.UTC(2020) * 1_000

/**
 * The longest remaining time of a heartbeat, in milliseconds. If the time is longer, the server
 * clock was set back, and the waiter counts as dead.
 */
const MOST_AHEAD_MS = 10_000

/** Returns how long ago a server time was, in milliseconds. Null if the number is not a time. */
export function ageOf(sinceUs: number, nowMs: number): number | null {
  return sinceUs < FIRST_US ? null : Math.max(0, Math.round(nowMs - sinceUs / 1e3))
}

interface QueueNames {
  /**
   * The name of the answer with the queue. The queue contains each waiter with the start of its
   * wait, as server time in µs.
   */
  readonly queue: string
  /**
   * The name of the answer with the heartbeats. It contains each client or waiter with the end of
   * its heartbeat, as server time in milliseconds. More text may follow after a space.
   */
  readonly alive: string
  /** Returns the access that the waiter requests, from the text of its heartbeat. */
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
      // Null for a reader that upgrades. Its score is not a time, but puts the reader before all
      // other waiters.
      waitedMs: ageOf(Number(sinceUs), nowMs),
      isDead: !(aheadMs >= 0 && aheadMs <= MOST_AHEAD_MS),
      wants: wants(heartbeat),
    }
  })
}
