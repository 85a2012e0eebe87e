import type { KindView } from './kind.ts'
import { HASHES, SETS } from './names.ts'
import { NO_NUMBER, NO_PERMITS, permitState, waitersOfPermits } from './permits.ts'

/** Semaphores whose permits have no leases. */
export const semaphore: KindView<'semaphore'> = {
  kind: 'semaphore',
  named: ['holdfast_permit_queue', 'holdfast_kind'],
  expiring: [
    'holdfast_request',
    'holdfast_permit_queue',
    'holdfast_permit_waiters',
    'holdfast_kind',
  ],
  questions: waitersOfPermits,
  stateOf: permitState,
  toFree({ stateText }) {
    if (stateText === NO_PERMITS) return [NO_NUMBER]
    return [
      'Permits without leases have no known holder.',
      'If a process has ended with permits, give them back with addPermits(n).',
    ]
  },
  whyNoForce:
    'is a semaphore without leases, so the holders of its permits are unknown. release() of any client gives one back.',
  rights: ({ lock, keyPrefix, own, channel }) => ({
    kind: 'semaphore',
    commands: [
      ['INCRBY', lock, '1'],
      ['DECRBY', lock, '1'],
      ...HASHES(lock),
      ...SETS(lock),
      ['ZMSCORE', lock, 'm'],
      ['ZCOUNT', lock, '0', '1'],
      ['ZRANGEBYSCORE', lock, '0', '1'],
      ['UNLINK', lock],
    ],
    patterns: [
      `~{${keyPrefix}*`,
      ...own('holdfast_permit_queue', 'holdfast_permit_waiters', 'holdfast_request'),
      ...own('holdfast_permit_holders', 'holdfast_kind'),
      channel('redisson_sc'),
      channel('holdfast_tickets'),
    ],
  }),
}
