import type {
  AcquireAnswer,
  HandOverAnswer,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import { type HolderFacts, type LockFacts, MOST_LISTED } from '../facts.ts'
import { type Hint, releaseHint } from '../hint.ts'
import type { RemoteLock } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { Reply } from '../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { forcedKey, type LockKeys } from './calls/keys.ts'
import type { ScriptServer } from './calls/script-runner.ts'
import { queueKeys } from './key-names/fair.ts'
import * as lock from './lock-bindings.ts'

/** The parts of the server that a lock uses. */
interface LockScriptServer extends ScriptServer {
  pendingReleases(rawName: string): PendingReleases
  listen(keys: LockKeys, onWake: (message?: string) => void): Subscription
}

export class RedisLock implements RemoteLock {
  readonly #server: LockScriptServer
  readonly #keys: LockKeys

  constructor(server: LockScriptServer, keys: LockKeys) {
    this.#server = server
    this.#keys = keys
  }

  acquire({ owner, leaseMs, reserve, callMs }: Attempt, reply: Reply<AcquireAnswer>): void {
    const given = { owner, leaseMs, reserve }
    this.#server.runner.run(lock.acquire, this.#keys, given, callMs, reply)
  }

  reenter({ owner, leaseMs, holds, token, callMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    const given = { owner, leaseMs, holds, token }
    this.#server.runner.run(lock.reenter, this.#keys, given, callMs, reply)
  }

  /** @param vote true for a master of a quorum; such a master counts tokens without its clock */
  handOver(passing: Passing, reply: Reply<HandOverAnswer>, vote = false): void {
    const { from, to, mayFree, listens, reserve, callMs } = passing
    const { runner } = this.#server
    const own = runner.ownListeners(listens)
    const binding = mayFree === 'never' ? lock.handOver : lock.handOverOrYield
    const given = {
      from: from.owner,
      token: from.token,
      to: to.owner,
      leaseMs: to.leaseMs,
      listening: mayFree === 'never' ? ('' as const) : mayFree === 'always' ? own - 1 : own,
      vote,
      reserve,
    }
    runner.run(binding, this.#keys, given, callMs, reply)
  }

  lower({ owner, holds, token, listens, callMs }: LoweredHold, reply: Reply<Released>): void {
    const { runner } = this.#server
    const given = { owner, token, holds }
    if (holds > 0) runner.run(lock.lower, this.#keys, given, callMs, reply)
    else runner.run(lock.free(runner.ownListeners(listens)), this.#keys, given, callMs, reply)
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    const pending = this.#server.pendingReleases(this.#keys.lock)
    const of = { rawName: this.#keys.lock, owner }
    pending.abandon(of, untilMs, leaseMs, (ending, reply) => this.lower(ending, reply))
  }

  async seen(callMs: number): Promise<SeenHold | null> {
    const { holder, token } = await this.peek(callMs)
    return holder === null ? null : { owner: holder, token }
  }

  /**
   * @param forcedMs how long a master of a quorum refuses to restore a hold of the owner, in
   * milliseconds; left out for a single server
   */
  forceRelease(
    { owner, token }: SeenHold,
    callMs: number,
    forcedMs?: number | undefined,
  ): Promise<boolean> {
    const forced = forcedMs === undefined ? undefined : forcedKey(this.#keys.lock)
    const given = { owner, token: token ?? '', forcedMs } as const
    const names = { ...this.#keys, forced }
    return this.#server.runner.request(lock.forceRelease, names, given, callMs)
  }

  peek(callMs: number): Promise<HolderFacts> {
    return this.#server.runner.request(lock.peek, this.#keys, {}, callMs)
  }

  inspect(callMs: number): Promise<LockFacts> {
    const names = { ...this.#keys, ...queueKeys(this.#keys.lock) }
    return this.#server.runner.request(lock.inspect, names, { most: MOST_LISTED }, callMs)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#server.listen(this.#keys, (message) => onHint(releaseHint(message)))
  }
}
