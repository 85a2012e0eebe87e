import type { Owner } from '../owner/owner.ts'
import type { FairServer } from '../servers/fair-server.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { CurrentHold } from './current-hold.ts'
import type { Host } from './host.ts'
import type { LockSite } from './lock-site.ts'

/** How locks are waited for in turn: handed in, so that nothing here depends on the queues. */
export interface FairKind {
  readonly server: FairServer
  newQueue(site: LockSite, current: CurrentHold, host: Host): LocalFairQueue
  close(): void
}

/** Those of one client who wait for one lock in turn. */
export interface LocalFairQueue {
  readonly isEmpty: boolean
  /** Asks, queues and waits until the waiter has the lock or is settled. */
  wait(waiter: Waiter): Promise<void>
  /** A message, a heartbeat or a release says that this owner has the lock. */
  granted(owner: string, token: number): void
  /** The lock may be free. */
  lookAgain(): void
  /** Somebody's acquisition may make those of the same owner re-entries. */
  wake(owner: Owner): void
  /** Nobody of this client waits for the lock or has it. */
  close(): void
}
