import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer, ReenterAnswer, Released } from '../../servers/answers.ts'
import type { RemoteFairLock } from '../../servers/fair-server.ts'
import type { Attempt, Ending, Reentry, RemoteLock } from '../../servers/lock-server.ts'
import type { Subscription } from '../../servers/subscription.ts'

/** The verbs of a fair lock: those of every lock, but for its last release, which passes it on in turn. */
export class FairVerbs implements KindVerbs {
  readonly inTurn: RemoteFairLock
  readonly #remote: RemoteLock

  constructor(remote: RemoteLock, inTurn: RemoteFairLock) {
    this.#remote = remote
    this.inTurn = inTurn
  }

  /** Out of turn: who waits in turn asks by `inTurn`. */
  acquire(attempt: Attempt): Promise<AcquireAnswer> {
    return this.#remote.acquire(attempt)
  }

  reenter(reentry: Reentry): Promise<ReenterAnswer> {
    return this.#remote.reenter(reentry)
  }

  release(ending: Ending): Promise<Released> {
    const { owner, holds, token, callMs } = ending
    return holds === 0 ? this.inTurn.release(owner, token, callMs) : this.#remote.release(ending)
  }

  ranOut(owner: string): void {
    this.#remote.ranOut?.(owner)
  }

  listen(onWake: (message?: string) => void): Subscription {
    return this.#remote.listen(onWake)
  }
}
