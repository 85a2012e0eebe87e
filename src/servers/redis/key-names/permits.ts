import { derived, kindKey, lockKeys, tagged } from '../calls/keys.ts'

/** The prefixes of the keys and channels of semaphores, with and without leases. */
export const PERMIT_NAMES = {
  queue: 'holdfast_permit_queue',
  alive: 'holdfast_permit_waiters',
  holders: 'holdfast_permit_holders',
  channel: 'redisson_sc',
  tickets: 'holdfast_tickets',
} as const

/**
 * Returns the keys for clients that wait for permits, and two channels. Holdfast wakes its clients
 * on `tickets`. Redisson uses `channel`.
 */
function waitingKeys(rawName: string) {
  return {
    queue: derived(PERMIT_NAMES.queue, rawName),
    alive: derived(PERMIT_NAMES.alive, rawName),
    channel: derived(PERMIT_NAMES.channel, rawName),
    tickets: derived(PERMIT_NAMES.tickets, rawName),
  }
}

/** Returns the keys of a semaphore whose permits have no leases. */
export function semaphoreKeys(rawName: string) {
  return { semaphore: rawName, ...waitingKeys(rawName), kind: kindKey(rawName) }
}

/** Returns the keys of a semaphore whose permits have leases. */
export function permitKeys(rawName: string) {
  const { counter } = lockKeys(rawName)
  return {
    pool: rawName,
    timeouts: `${tagged(rawName)}:timeout`,
    counter,
    ...waitingKeys(rawName),
    holders: derived(PERMIT_NAMES.holders, rawName),
    kind: kindKey(rawName),
  }
}
