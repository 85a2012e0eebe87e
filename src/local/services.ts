import type { Emit } from '../events.ts'
import type { Clock } from '../lease/clock.ts'
import type { Watchdog } from '../lease/watchdog.ts'
import type { FairServer } from '../servers/fair-server.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { Limits } from '../waiting/retry-budget.ts'

/** What all locks of one client at one place share. */
export interface Services {
  readonly server: LockServer
  /** Undefined where the place has no fair locks. */
  readonly fairServer: FairServer | undefined
  readonly watchdog: Watchdog
  readonly clock: Clock
  readonly limits: Limits
  readonly emit: Emit
}
