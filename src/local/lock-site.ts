import type { Released } from '../servers/answers.ts'
import type { FairServer, RemoteFairLock } from '../servers/fair-server.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import type { ServerHealth } from '../waiting/server-health.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { Services } from './services.ts'

/** One lock as its client has it: its names, and what it is at its place. */
export class LockSite {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteLock
  readonly services: Services
  #remoteFair: RemoteFairLock | undefined

  constructor(name: string, rawName: string, services: Services) {
    this.name = name
    this.rawName = rawName
    this.remote = services.server.lock(rawName)
    this.services = services
  }

  get remoteFair(): RemoteFairLock {
    this.#remoteFair ??= (this.services.fairServer as FairServer).lock(this.rawName)
    return this.#remoteFair
  }

  /** @param health what it shares with others; left out when it is alone */
  retryBudget(health?: ServerHealth): RetryBudget {
    return new RetryBudget(this.name, this.services.limits, health)
  }

  /** It is known that the waiter has to wait for somebody else. */
  announce(waiter: Waiter): void {
    if (waiter.announced) return
    waiter.announced = true
    this.services.emit('wait', { name: this.name })
  }

  /**
   * Lowers the hold count; at zero frees the lock, or passes it on in turn where it was acquired so.
   *
   * @param holds the count wanted afterwards
   * @param token of the hold; '' ends all that the name has
   */
  release(
    wireOwner: string,
    holds: number,
    token: number | '',
    fair: boolean,
    callMs: number,
  ): Promise<Released> {
    return fair && holds === 0
      ? this.remoteFair.release(wireOwner, token, callMs)
      : this.remote.release({ owner: wireOwner, holds, token, callMs })
  }

  /**
   * Goes on freeing in the background. The name is not used again.
   *
   * @param untilMs until when a delayed request in that name may still run
   * @param leaseMs the longest lease that it could have
   */
  abandon(wireOwner: string, untilMs: number, leaseMs: number, fair: boolean): void {
    const release = (callMs: number) => this.release(wireOwner, 0, '', fair, callMs)
    this.services.pendingReleases.add({ release, untilMs, leaseMs })
  }
}
