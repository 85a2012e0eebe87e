import type { Released } from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import type { Ending } from '../../lock-server.ts'
import { type PermitAnswer, type PermitAttempt, waitedMsFrom } from '../../permit-pool.ts'
import type {
  PermitChange,
  PermitFacts,
  PermitServer,
  Remembered,
  RemotePermits,
} from '../../permit-server.ts'
import type { Reply } from '../../reply.ts'
import type { Subscription } from '../../subscription.ts'
import { permitKeys } from '../calls/keys.ts'
import { type KindScriptServer, KindServer } from '../calls/kind-server.ts'
import type { RedisKind } from '../calls/redis-kind.ts'
import type { Renewing } from '../calls/renew.ts'
import * as scripts from '../scripts/permits.generated.ts'
import { listenToBoth } from './listen-to-both.ts'
import { permitAnswer, permitFacts } from './permit-replies.ts'

/**
 * How long a request to remove a place may take, in milliseconds. If the request fails, the place
 * expires by itself.
 */
const LEAVE_MS = 1_000

/** The semaphores with leases on one server or cluster, for one client. */
class RedisPermitServer extends KindServer implements PermitServer {
  pool(rawName: string): RemotePermits {
    return new RedisPermits(this.server, this.clientId, rawName)
  }

  protected renewing(leaseMs: number): Renewing {
    return {
      script: scripts.renew,
      keysOf: (rawName) => permitKeys(rawName).three,
      args: (group, terms) =>
        scripts.renewArgs({ leaseMs, owners: group.map(({ wireOwner }) => wireOwner) }, terms),
      read: scripts.readRenew,
    }
  }
}

export const redisPermits: Omit<RedisKind, 'what'> = {
  type: 'string',
  open: (server, { clientId }) => new RedisPermitServer(server, clientId),
}

class RedisPermits implements RemotePermits {
  readonly #server: KindScriptServer
  readonly #clientId: string
  readonly #rawName: string
  readonly #keys: ReturnType<typeof permitKeys>

  constructor(server: KindScriptServer, clientId: string, rawName: string) {
    this.#server = server
    this.#clientId = clientId
    this.#rawName = rawName
    this.#keys = permitKeys(rawName)
  }

  acquire(
    { owner, leaseMs, waits, isLast, beganAt, since, limit, callMs }: PermitAttempt,
    reply: Reply<PermitAnswer>,
  ): void {
    const keys = this.#keys
    const { tickets } = keys
    const client = waits ? this.#clientId : ''
    const asked = { owner, leaseMs, tickets, client, last: isLast, since, limit }
    this.#server.runner.run(
      {
        script: scripts.acquire,
        keys: keys.seven,
        args: (terms) =>
          scripts.acquireArgs({ ...asked, waitedMs: waitedMsFrom(beganAt) }, terms, keys),
        read: permitAnswer,
        callMs,
      },
      reply,
    )
  }

  giveBack({ owner, callMs }: Ending, isLast: boolean, reply: Reply<Released>): void {
    const keys = this.#keys
    const asked = { owner, tickets: keys.tickets, client: isLast ? this.#clientId : '' }
    this.#server.runner.run(
      {
        script: scripts.release,
        keys: keys.six,
        args: (terms) => scripts.releaseArgs(asked, terms, keys),
        read: releasedOf,
        callMs,
      },
      reply,
    )
  }

  stopWaiting(): void {
    const nobody: Ending = { owner: '', holds: 0, token: '', callMs: LEAVE_MS }
    this.giveBack(nobody, true, { answered: () => {}, failed: () => {} })
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const pending = this.#server.pendingReleases(this.#rawName)
    pending.abandon({ key: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.giveBack(ending, isLast(), reply),
    )
  }

  async change({ how, permits, request, keptMs }: PermitChange, callMs: number): Promise<number> {
    const keys = this.#keys
    const asked = { how, permits, tickets: keys.tickets, keptMs }
    const done = await this.#server.runner.request({
      script: scripts.set,
      keys: keys.sevenFor(request),
      args: (terms) => scripts.setArgs(asked, terms, keys),
      read: scripts.readSet,
      callMs,
    })
    return done.permits
  }

  releaseIds(
    ids: readonly string[],
    { request, keptMs }: Remembered,
    callMs: number,
  ): Promise<boolean> {
    const keys = this.#keys
    const asked = { tickets: keys.tickets, keptMs, ids }
    return this.#server.runner.request({
      script: scripts.releaseIds,
      keys: keys.sevenFor(request),
      args: (terms) => scripts.releaseIdsArgs(asked, terms, keys),
      read: scripts.readReleaseIds,
      callMs,
    })
  }

  inspect(most: number, callMs: number): Promise<PermitFacts> {
    return this.#server.runner.request({
      script: scripts.inspect,
      keys: this.#keys.six,
      args: () => scripts.inspectArgs({ most }),
      read: permitFacts,
      callMs,
    })
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return listenToBoth(this.#server, this.#keys, this.#clientId, onHint)
  }
}

/** Callers do not use the number of listeners of permits, so it is 0. */
function releasedOf(reply: unknown): Released {
  const { kind } = scripts.readRelease(reply)
  return kind === 'freed' ? { kind, listeners: 0 } : { kind }
}
