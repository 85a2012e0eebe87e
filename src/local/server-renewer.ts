import type { Hold } from '../lease/hold.ts'
import type { RenewalAnswer, Renewer } from '../lease/renewer.ts'
import type { Renewal } from '../servers/renewal.ts'
import { provedMs } from '../servers/renewed-lease.ts'
import { renewalOf, toRenew } from './kind-verbs.ts'

/**
 * Renews the leases of holds on one server or quorum. Kinds with their own renewal need separate
 * requests.
 */
export class ServerRenewer implements Renewer<Hold> {
  readonly #server: Renewal

  constructor(server: Renewal) {
    this.#server = server
  }

  groups(holds: readonly Hold[]): (readonly Hold[])[] {
    const together = new Map<Renewal, Hold[]>()
    for (const hold of holds) {
      const renewal = renewalOf(hold, this.#server)
      const others = together.get(renewal)
      if (others === undefined) together.set(renewal, [hold])
      else others.push(hold)
    }
    return [...together].flatMap(([renewal, some]) => groupsOf(renewal, some))
  }

  /** @param holds holds of one group that `groups` returned */
  async renew(
    holds: readonly Hold[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<RenewalAnswer[]> {
    const [first] = holds
    if (first === undefined) return []
    const renewal = renewalOf(first, this.#server)
    const remaining = await renewal.renew(holds.map(toRenew), leaseMs, timeoutMs)
    const kind = leaseMs > 0 ? 'renewed' : 'held'
    return remaining.map((one): RenewalAnswer => {
      if (one === 'gone') return { kind: 'lost' }
      if (typeof one !== 'number') return { kind: 'unknown', cause: one }
      return { kind, leaseMs: provedMs(one) }
    })
  }
}

function groupsOf(renewal: Renewal, holds: readonly Hold[]): (readonly Hold[])[] {
  const groups = renewal.groups(holds.map((hold) => hold.id))
  if (groups.length === 1) return [holds]
  return groups.map((indices) => indices.map((i) => holds[i] as Hold))
}
