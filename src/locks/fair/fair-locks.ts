import type { Clock } from '../../kit/clock.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { FairServer } from '../../servers/fair-server.ts'
import type { LockServer, RemoteLock } from '../../servers/lock-server.ts'
import type { LeaseRequest } from '../../waiting/waiter.ts'
import { FairVerbs } from './fair-verbs.ts'
import { FairWaiter } from './fair-waiter.ts'
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

  newWaiter(lock: LocalLock, request: LeaseRequest): FairWaiter {
    return new FairWaiter(lock, request, this.#heartbeat)
  }

  stopHeartbeat(): void {
    this.#heartbeat.stop()
  }
}
