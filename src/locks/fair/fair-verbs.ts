import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer, ReenterAnswer, Released } from '../../servers/answers.ts'
import type { RemoteFairLock } from '../../servers/fair-server.ts'
import type { Hint } from '../../servers/hint.ts'
import type { RemoteLock } from '../../servers/lock-server.ts'
import type { Reply } from '../../servers/reply.ts'
import type { Attempt, LoweredHold, Reentry } from '../../servers/requests.ts'
import type { Subscription } from '../../servers/subscription.ts'
import type { FairQueue } from './fair-queue.ts'

/**
 * The requests of a fair lock. The last release of a hold, and `abandon`, also grant the lock to
 * the head of the queue. All other requests are the same as for a plain lock.
 */
export class FairVerbs implements KindVerbs {
  readonly inTurn: RemoteFairLock
  /** The waiters of this client; undefined before the first attempt. */
  queue: FairQueue | undefined
  readonly #remote: RemoteLock

  constructor(remote: RemoteLock, inTurn: RemoteFairLock) {
    this.#remote = remote
    this.inTurn = inTurn
  }

  /** Acquires the lock without a place in the queue. A `FairWaiter` uses `inTurn` instead. */
  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    this.#remote.acquire(attempt, reply)
  }

  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    this.#remote.reenter(reentry, reply)
  }

  lower(ending: LoweredHold, reply: Reply<Released>): void {
    if (ending.holds > 0) this.#remote.lower(ending, reply)
    else (this.queue ?? this.inTurn).endHold(ending, reply)
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    this.inTurn.abandon(owner, untilMs, leaseMs)
  }

  ranOut(owner: string): void {
    this.#remote.ranOut?.(owner)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#remote.listen(onHint)
  }
}
