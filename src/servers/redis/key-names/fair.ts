import { derived } from '../calls/keys.ts'

/** The prefixes of the keys that only fair locks have. */
export const FAIR_NAMES = {
  queue: 'holdfast_queue',
  waiting: 'holdfast_waiting',
  javaQueue: 'redisson_lock_queue',
  javaTimeouts: 'redisson_lock_timeout',
} as const

/** The keys that only fair locks have. */
interface QueueKeys {
  /** The waiting owners, in the order in which they came. */
  readonly queue: string
  /** The label of each waiting client, and when its places expire. */
  readonly waiting: string
  /** The queue of Redisson's fair lock. */
  readonly javaQueue: string
  /** When each waiter of Redisson's queue counts as dead. */
  readonly javaTimeouts: string
}

export function queueKeys(rawName: string): QueueKeys {
  return {
    queue: derived(FAIR_NAMES.queue, rawName),
    waiting: derived(FAIR_NAMES.waiting, rawName),
    javaQueue: derived(FAIR_NAMES.javaQueue, rawName),
    javaTimeouts: derived(FAIR_NAMES.javaTimeouts, rawName),
  }
}
