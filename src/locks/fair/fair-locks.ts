import type { Clock } from '../../kit/clock.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import { LocalWaiter } from '../../local/racing-waiter.ts'
import type { FairServer } from '../../servers/fair-server.ts'
import type { LockServer, RemoteLock } from '../../servers/lock-server.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import { FairQueue } from './fair-queue.ts'
import { FairVerbs } from './fair-verbs.ts'
import { Heartbeat } from './heartbeat.ts'

/** The kind of fair locks in one client. One heartbeat serves the queues of all fair locks. */
export class FairLocks implements LockKind {
  readonly name = 'fair'
  readonly isShared = false
  readonly waitsInTurn = true
  readonly whyNoVote = 'is a fair lock, whose queue needs one server'
  readonly #fairServer: FairServer
  readonly #heartbeat: Heartbeat

  constructor(server: LockServer, fairServer: FairServer, clock: Clock) {
    this.#fairServer = fairServer
    this.#heartbeat = new Heartbeat(server, fairServer, clock)
  }

  newVerbs({ rawName, remote }: { rawName: string; remote: RemoteLock }): FairVerbs {
    return new FairVerbs(remote, this.#fairServer.lock(rawName))
  }

  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter {
    return new FairWaiter(lock, request, this.#heartbeat)
  }

  stopHeartbeat(): void {
    this.#heartbeat.stop()
  }
}

/** A waiter for a fair lock. The heartbeat keeps the place of the waiter in the queue. */
class FairWaiter extends LocalWaiter {
  readonly #heartbeat: Heartbeat

  constructor(lock: LocalLock, request: AcquireRequest, heartbeat: Heartbeat) {
    super(lock, request)
    this.#heartbeat = heartbeat
  }

  start(): void {
    this.contend()
  }

  contend(): void {
    const { lock } = this
    const { inTurn } = lock.remoteOf(this.request) as FairVerbs
    lock.queued ??= new FairQueue(this.#heartbeat, lock, inTurn)
    lock.tasks.run((lock.queued as FairQueue).wait(this), this)
  }
}
