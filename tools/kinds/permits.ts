import type { Found, KindView, StateFacts } from './kind.ts'
import { derived, leasesOf, queueOf } from './names.ts'

/** Semaphores whose permits have leases. */
export const permits: KindView<'permits'> = {
  kind: 'permits',
  named: ['holdfast_permit_queue', 'holdfast_kind'],
  expiring: [
    'holdfast_permit_queue',
    'holdfast_permit_waiters',
    'holdfast_permit_holders',
    'holdfast_kind',
  ],
  questions(found) {
    const { key, type, nowMs } = found
    const timeouts = `${leasesOf(key)}:timeout`
    return {
      ...waitersOfPermits(found),
      ...(type === 'string' && {
        timeouts: ['ZCARD', timeouts],
        taken: ['ZCOUNT', timeouts, `(${Math.floor(nowMs)}`, '+inf'],
        permitHolders: ['HGETALL', derived('holdfast_permit_holders', key)],
      }),
    }
  },
  stateOf: permitState,
  lines({ count, stateText }) {
    if (count === null || stateText === NO_PERMITS) return []
    return [
      ['available', `${count.available}`],
      ['taken', `${count.taken ?? 0}`],
    ]
  },
  force({ key, owner, publish }) {
    const named = (prefix: string) => derived(prefix, key)
    const queue = [named('holdfast_permit_queue'), named('holdfast_permit_waiters')]
    const notes = [named('holdfast_permit_holders'), named('holdfast_kind')]
    return {
      script: 'takePermit',
      keys: [key, `${leasesOf(key)}:timeout`, ...queue, ...notes],
      args: [owner, named('redisson_sc'), publish, named('holdfast_tickets')],
    }
  },
}

/** The state of a semaphore whose number of permits is not set. */
export const NO_PERMITS = 'no permits set'

export const NO_NUMBER = 'The number of permits is not set: call trySetPermits(n).'

export function waitersOfPermits({ key, type }: Found) {
  if (type !== 'string' && type !== 'none') return {}
  return {
    ...(type === 'string' && { number: ['GET', key] }),
    note: ['GET', derived('holdfast_kind', key)],
    wanting: queueOf('holdfast_permit_queue', key),
    wanted: ['HGETALL', derived('holdfast_permit_waiters', key)],
  }
}

/**
 * A semaphore with leases is held while any permit is taken. Without leases, the number of taken
 * permits is unknown. Such a semaphore is held while no permit is available.
 */
export function permitState({ count, isSet }: StateFacts) {
  if (!isSet || count === null) return { state: 'free', stateText: NO_PERMITS } as const
  const { available, taken } = count
  if (taken !== null) {
    const stateText = `${taken} of ${available + taken} taken`
    return { state: taken > 0 ? 'held' : 'free', stateText } as const
  }
  if (available > 0) return { state: 'free', stateText: `${available} available` } as const
  return {
    state: 'held',
    stateText:
      available === 0
        ? 'none available'
        : `none available, ${-available} more taken than there are`,
  } as const
}
