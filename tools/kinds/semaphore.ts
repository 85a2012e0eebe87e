import type { KindView } from './kind.ts'
import { permitPage, permitState, toUsePermits } from './permits.ts'

/** Semaphores whose permits have no leases. */
export const semaphore: KindView<'semaphore'> = {
  kind: 'semaphore',
  holds: { semaphore: { endedBy: [], hidesEnd: true } },
  stateOf: permitState,
  toFree(facts) {
    const toUse = toUsePermits(facts)
    if (toUse !== undefined) return [toUse]
    return [
      'Permits without leases have no known holder.',
      'If a process has ended with permits, give them back with addPermits(n).',
    ]
  },
  whyNoForce:
    'is a semaphore without leases, so the holders of its permits are unknown. release() of any client gives one back.',
  page: permitPage(),
}
