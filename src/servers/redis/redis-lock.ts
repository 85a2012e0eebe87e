import type {
  AcquireAnswer,
  HandOverAnswer,
  HolderFacts,
  LockFacts,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import { type Hint, releaseHint } from '../hint.ts'
import type { Attempt, Ending, Passing, Reentry, RemoteLock } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { Reply } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import { type LockKeys, lockKeys } from './calls/keys.ts'
import type { ScriptServer } from './calls/script-runner.ts'
import { forceRelease, seenIn } from './force-release.ts'
import * as commands from './lock-commands.ts'

/** The parts of the server that a lock uses. */
interface LockScriptServer extends ScriptServer {
  pendingReleases(rawName: string): PendingReleases
  listen(keys: LockKeys, onWake: (message?: string) => void): Subscription
}

/** One lock on one server, or in a cluster. */
export class RedisLock implements RemoteLock {
  readonly #server: LockScriptServer
  readonly #keys: LockKeys

  constructor(server: LockScriptServer, rawName: string) {
    this.#server = server
    this.#keys = lockKeys(rawName)
  }

  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    commands.acquire(this.#server, this.#keys, attempt, reply)
  }

  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    commands.reenter(this.#server, this.#keys, reentry, reply)
  }

  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void {
    commands.handOver(this.#server, this.#keys, passing, reply)
  }

  lower(ending: Ending, reply: Reply<Released>): void {
    commands.lower(this.#server, this.#keys, ending, reply)
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    const pending = this.#server.pendingReleases(this.#keys.lock)
    const of = { key: this.#keys.lock, owner }
    pending.abandon(of, untilMs, leaseMs, (ending, reply) => this.lower(ending, reply))
  }

  seen(callMs: number): Promise<SeenHold | null> {
    return this.peek(callMs).then(seenIn)
  }

  forceRelease(seen: SeenHold, callMs: number): Promise<boolean> {
    return forceRelease(this.#server.runner, this.#keys, seen, callMs)
  }

  peek(callMs: number): Promise<HolderFacts> {
    return commands.peek(this.#server, this.#keys, callMs)
  }

  inspect(callMs: number): Promise<LockFacts> {
    return commands.inspect(this.#server, this.#keys, callMs)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#server.listen(this.#keys, (message) => onHint(releaseHint(message)))
  }
}
