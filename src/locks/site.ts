import type { Released } from '../redis/answers.ts'
import { type LockKeys, lockKeys } from '../redis/keys.ts'
import { type FairKeys, fairKeys } from '../redis/queue-node.ts'
import type { Context } from './context.ts'
import type { Health } from './health.ts'
import { Patience } from './patience.ts'

/** One lock as its client talks about it to Redis: under which names, and with how much patience. */
export class Site {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly keys: LockKeys
  readonly context: Context
  #fairKeys: FairKeys | undefined

  constructor(name: string, rawName: string, context: Context) {
    this.name = name
    this.keys = lockKeys(rawName)
    this.context = context
  }

  get fairKeys(): FairKeys {
    this.#fairKeys ??= fairKeys(this.keys.lock)
    return this.#fairKeys
  }

  /** @param health what it shares with others; left out when it is alone */
  patience(health?: Health): Patience {
    return new Patience(this.name, this.context.limits, health)
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
    const { node, queues } = this.context
    return fair && holds === 0
      ? queues.release(this.fairKeys, wireOwner, token, timeoutMs)
      : node.release(this.keys, wireOwner, holds, token, timeoutMs)
  }

  /**
   * Goes on freeing in the background. The name is not used again.
   *
   * @param untilMs until when a delayed request in that name may still run
   * @param leaseMs the longest lease that it could have
   */
  settle(wireOwner: string, untilMs: number, leaseMs: number, fair: boolean): void {
    const release = (timeoutMs: number) => this.release(wireOwner, 0, '', fair, timeoutMs)
    this.context.settler.settle({ release, untilMs, leaseMs })
  }
}
