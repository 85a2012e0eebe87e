import type { Released } from '../servers/answers.ts'
import { type FairKeys, fairKeys } from '../servers/redis/fair-commands.ts'
import { type LockKeys, lockKeys } from '../servers/redis/keys.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import type { ServerHealth } from '../waiting/server-health.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { Services } from './services.ts'

/** One lock as its client talks about it to Redis: under which names, and with how much retryBudget. */
export class LockSite {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly keys: LockKeys
  readonly services: Services
  #fairKeys: FairKeys | undefined

  constructor(name: string, rawName: string, services: Services) {
    this.name = name
    this.keys = lockKeys(rawName)
    this.services = services
  }

  get fairKeys(): FairKeys {
    this.#fairKeys ??= fairKeys(this.keys.lock)
    return this.#fairKeys
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
    timeoutMs: number,
  ): Promise<Released> {
    const { server, fairCommands } = this.services
    return fair && holds === 0
      ? fairCommands.release(this.fairKeys, wireOwner, token, timeoutMs)
      : server.release(this.keys, wireOwner, holds, token, timeoutMs)
  }

  /**
   * Goes on freeing in the background. The name is not used again.
   *
   * @param untilMs until when a delayed request in that name may still run
   * @param leaseMs the longest lease that it could have
   */
  abandon(wireOwner: string, untilMs: number, leaseMs: number, fair: boolean): void {
    const release = (timeoutMs: number) => this.release(wireOwner, 0, '', fair, timeoutMs)
    this.services.pendingReleases.add({ release, untilMs, leaseMs })
  }
}
