import type { LocalLocks } from '../../local/local-locks.ts'
import type { SemaphoreServer } from '../../servers/semaphore-server.ts'
import { PermitKinds } from './permit-kinds.ts'
import { PlainPermitWaiter } from './plain-waiter.ts'

/** The semaphores of one client. */
export class Semaphores {
  readonly locks: LocalLocks
  readonly server: SemaphoreServer
  readonly kinds: PermitKinds

  constructor(locks: LocalLocks, server: SemaphoreServer) {
    this.locks = locks
    this.server = server
    this.kinds = new PermitKinds({
      pool: (rawName) => server.semaphore(rawName),
      newWaiter: (lock, request) => new PlainPermitWaiter(lock, request),
    })
  }
}
