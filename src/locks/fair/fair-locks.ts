import type { Clock } from '../../lease/clock.ts'
import type { CurrentHold } from '../../local/current-hold.ts'
import type { FairKind, LocalFairQueue } from '../../local/fair-kind.ts'
import type { Host } from '../../local/host.ts'
import type { LockSite } from '../../local/lock-site.ts'
import type { FairServer } from '../../servers/fair-server.ts'
import { FairQueue } from './fair-queue.ts'
import { Heartbeat } from './heartbeat.ts'

/** The fair locks of one client: all of their queues share one heartbeat. */
export class FairLocks implements FairKind {
  readonly server: FairServer
  readonly #heartbeat: Heartbeat

  constructor(server: FairServer, clock: Clock) {
    this.server = server
    this.#heartbeat = new Heartbeat(server, clock)
  }

  newQueue(site: LockSite, current: CurrentHold, host: Host): LocalFairQueue {
    return new FairQueue(this.#heartbeat, site, current, host)
  }

  close(): void {
    this.#heartbeat.close()
  }
}
