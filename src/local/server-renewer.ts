import type { Hold } from '../lease/hold.ts'
import type { Answer, Renewer } from '../lease/watchdog.ts'
import type { LeaseToRenew } from '../servers/answers.ts'
import type { LockServer } from '../servers/lock-server.ts'

/** A hold as several masters are told of it: one that lost it is given back what is so by then. */
export function toRenew(hold: Hold): LeaseToRenew {
  return {
    ...hold.id,
    get holds() {
      return hold.current.count
    },
    token: hold.lastToken,
    isHeld: () => hold.current.live,
  }
}

/** Asks one server about leases. */
export class ServerRenewer implements Renewer {
  readonly #server: LockServer

  constructor(server: LockServer) {
    this.#server = server
  }

  groups(holds: readonly Hold[]): Hold[][] {
    const groups = this.#server.groups(holds.map((hold) => hold.id))
    return groups.map((indices) => indices.map((i) => holds[i] as Hold))
  }

  async renew(holds: readonly Hold[], leaseMs: number, timeoutMs: number): Promise<Answer[]> {
    const left = await this.#server.renew(holds.map(toRenew), leaseMs, timeoutMs)
    return left.map((ms): Answer => {
      if (typeof ms !== 'number') return { kind: 'unknown', cause: ms }
      if (ms === -2) return { kind: 'lost' }
      return { kind: leaseMs > 0 ? 'renewed' : 'held', leaseMs: Math.max(ms, 0) }
    })
  }
}
