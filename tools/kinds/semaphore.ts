import type { KindView } from './kind.ts'
import { permitPage, permitState, toUsePermits, waiterForPermits } from './permits.ts'

/** Semaphores whose permits have no leases. */
export const semaphore: KindView<'semaphore'> = {
  kind: 'semaphore',
  inErrors: 'a semaphore without leases',
  async read(client, name) {
    const { isSet, available, waiting } = await client.getSemaphore(name).inspect()
    if (!isSet && waiting.length === 0) return null
    const queue = waiting.map(waiterForPermits)
    return { queue, count: { available, taken: null, toGo: null }, isSet }
  },
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
