import type {
  AcquireAnswer,
  HandOverAnswer,
  LockFacts,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import type { Attempt, Ending, Passing, Reentry, RemoteLock } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { Subscription } from '../subscription.ts'
import { forceRelease, seenIn } from './force-release.ts'
import { type LockKeys, lockKeys } from './keys.ts'
import * as commands from './lock-commands.ts'
import type { ScriptServer } from './script-runner.ts'

/** What one lock needs of its server. */
interface Server extends ScriptServer {
  pendingReleases(rawName: string): PendingReleases
  listen(keys: LockKeys, onWake: (message?: string) => void): Subscription
}

/** One lock on one server, or in a cluster. */
export class RedisLock implements RemoteLock {
  readonly #server: Server
  readonly #keys: LockKeys

  constructor(server: Server, rawName: string) {
    this.#server = server
    this.#keys = lockKeys(rawName)
  }

  acquire(attempt: Attempt): Promise<AcquireAnswer> {
    return commands.acquire(this.#server, this.#keys, attempt)
  }

  reenter(reentry: Reentry): Promise<ReenterAnswer> {
    return commands.reenter(this.#server, this.#keys, reentry)
  }

  handOver(passing: Passing): Promise<HandOverAnswer> {
    return commands.handOver(this.#server, this.#keys, passing)
  }

  release(ending: Ending): Promise<Released> {
    return commands.release(this.#server, this.#keys, ending)
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    const release = (callMs: number) => this.release({ owner, holds: 0, token: '', callMs })
    this.#server.pendingReleases(this.#keys.lock).add({ release, untilMs, leaseMs })
  }

  seen(callMs: number): Promise<SeenHold | null> {
    return this.inspect(callMs, 0).then(seenIn)
  }

  forceRelease(seen: SeenHold, callMs: number): Promise<boolean> {
    return forceRelease(this.#server.runner, this.#keys, seen, callMs)
  }

  inspect(callMs: number, most?: number): Promise<LockFacts> {
    return commands.inspect(this.#server, this.#keys, callMs, most)
  }

  listen(onWake: (message?: string) => void): Subscription {
    return this.#server.listen(this.#keys, onWake)
  }
}
