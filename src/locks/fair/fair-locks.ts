import type { Clock } from '../../lease/clock.ts'
import { LocalWaiter } from '../../local/acquire.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { FairServer } from '../../servers/fair-server.ts'
import type { LockServer } from '../../servers/lock-server.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import { FairQueue } from './fair-queue.ts'
import { Heartbeat } from './heartbeat.ts'

/** The fair locks of one client: all of their queues share one heartbeat. */
export class FairLocks implements LockKind {
  readonly isFair = true
  readonly #heartbeat: Heartbeat

  constructor(server: LockServer, queues: FairServer, clock: Clock) {
    this.#heartbeat = new Heartbeat(server, queues, clock)
  }

  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter {
    return new FairWaiter(lock, request, this.#heartbeat)
  }

  close(): void {
    this.#heartbeat.close()
  }
}

/** Waits in the queue at the server, where its place is kept by the heartbeat. */
class FairWaiter extends LocalWaiter {
  readonly #heartbeat: Heartbeat

  constructor(lock: LocalLock, request: AcquireRequest, heartbeat: Heartbeat) {
    super(lock, request)
    this.#heartbeat = heartbeat
  }

  start(): void {
    this.lock.tasks.run(this.contend(), this)
  }

  contend(): Promise<void> {
    const { lock } = this
    lock.queued ??= new FairQueue(this.#heartbeat, lock)
    return (lock.queued as FairQueue).wait(this)
  }
}
