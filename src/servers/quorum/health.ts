import type { LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { MasterHealth } from '../master-health.ts'
import type { Master } from './master/master.ts'

/** Returns the state of a master, and how many of the leases the master lacks. Never rejects. */
export async function healthOf(
  master: Master,
  leases: readonly LeaseToRenew[],
  timeoutMs: number,
): Promise<MasterHealth> {
  const address = master.label
  try {
    const [{ isOwn, restsForMs }, missing] = await Promise.all([
      master.mark(timeoutMs),
      leases.length === 0 ? [] : master.renew(leases, 0, timeoutMs),
    ])
    const missingLeases = missing.filter((one) => one === 'gone').length
    const found = { address, restsForMs, missingLeases, reason: null }
    if (!isOwn) return { ...found, state: 'unmarked' }
    if (restsForMs > 0) return { ...found, state: 'rests' }
    return { ...found, state: missingLeases > 0 ? 'behind' : 'votes' }
  } catch (error) {
    const { kind, message } = error as CallFailure
    const answered = kind === 'refused' || kind === 'unsupported' || kind === 'misused'
    const state = answered ? 'refuses' : 'unreachable'
    return { address, state, restsForMs: Infinity, missingLeases: 0, reason: message }
  }
}
