import type { Released } from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import { permitsId } from '../../owner-id.ts'
import { type PermitAnswer, type PermitAttempt, waitedMsFrom } from '../../permit-pool.ts'
import {
  PERMITS,
  type PermitChange,
  type PermitFacts,
  type PermitServer,
  type Remembered,
  type RemotePermits,
} from '../../permit-server.ts'
import { bothReplies, NO_REPLY, type Reply } from '../../reply.ts'
import { type LoweredHold, wholeRelease } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'
import { requestKey } from '../calls/keys.ts'
import { KindServer } from '../calls/kind-server.ts'
import type { RedisKind } from '../calls/redis-kind.ts'
import { type KindScriptServer, type Renewing, renewingOwners } from '../calls/renew.ts'
import { permitKeys } from '../key-names/permits.ts'
import { listenToBoth } from './listen-to-both.ts'
import * as permits from './permit-bindings.ts'

/**
 * How long a request to remove a place may take, in milliseconds. If the request fails, the place
 * expires by itself.
 */
const LEAVE_MS = 1_000

class RedisPermitServer extends KindServer implements PermitServer {
  readonly ownerId = permitsId

  pool(rawName: string): RemotePermits {
    return new RedisPermits(this.server, this.clientId, rawName)
  }

  protected renewing(leaseMs: number): Renewing {
    return renewingOwners(permits.renew, leaseMs, (rawName) => {
      const { timeouts, counter, holders } = permitKeys(rawName)
      return [timeouts, counter, holders]
    })
  }
}

export const redisPermits: RedisKind = {
  kind: PERMITS,
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

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const given = () => this.#given(attempt)
    this.#server.runner.run(permits.acquire, this.#keys, given, attempt.callMs, reply)
  }

  handOver(
    { owner: from }: LoweredHold,
    attempt: PermitAttempt,
    released: Reply<Released>,
    acquired: Reply<PermitAnswer>,
  ): void {
    const given = () => ({ from, ...this.#given(attempt) })
    const reply = bothReplies(released, acquired)
    this.#server.runner.run(permits.handOver, this.#keys, given, attempt.callMs, reply)
  }

  giveBack({ owner, callMs }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    const given = { owner, client: isLast ? this.#clientId : '' }
    this.#server.runner.run(permits.release, this.#keys, given, callMs, reply)
  }

  stopWaiting(): void {
    this.giveBack(wholeRelease('', LEAVE_MS), true, NO_REPLY)
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const pending = this.#server.pendingReleases(this.#rawName)
    pending.abandon({ rawName: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.giveBack(ending, isLast(), reply),
    )
  }

  change({ request, ...given }: PermitChange, callMs: number): Promise<number> {
    return this.#server.runner.request(permits.change, this.#namesWith(request), given, callMs)
  }

  releaseIds(
    ids: readonly string[],
    { request, keptMs }: Remembered,
    callMs: number,
  ): Promise<boolean> {
    const names = this.#namesWith(request)
    return this.#server.runner.request(permits.releaseIds, names, { keptMs, ids }, callMs)
  }

  inspect(most: number, callMs: number): Promise<PermitFacts> {
    return this.#server.runner.request(permits.inspect, this.#keys, { most }, callMs)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return listenToBoth(this.#server, this.#keys, this.#clientId, onHint)
  }

  /** Returns the arguments of an acquisition. The waiting times count until now. */
  #given({ owner, leaseMs, waits, isLast, beganAt, waitId, limit, behind }: PermitAttempt) {
    return {
      owner,
      leaseMs,
      client: waits ? this.#clientId : '',
      last: isLast,
      waitedMs: waitedMsFrom(beganAt),
      since: waitId,
      limit,
      behindPermits: behind?.permits,
      behindWaitedMs: behind && waitedMsFrom(behind.beganAt),
    }
  }

  /** Returns the names with the key for the result of this request. */
  #namesWith(request: string) {
    return { ...this.#keys, request: requestKey(this.#rawName, request) }
  }
}
