import type { Released } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import type { SemaphoreFacts } from '../../facts.ts'
import type { Hint } from '../../hint.ts'
import { permitsId } from '../../owner-id.ts'
import { type PermitAnswer, type PermitAttempt, waitedMsFrom } from '../../permit-pool.ts'
import { bothReplies, promised, type Reply } from '../../reply.ts'
import type { LoweredHold } from '../../requests.ts'
import {
  type Addition,
  GIVING_BACK_MS,
  type RemoteSemaphore,
  SEMAPHORE,
  type SemaphoreChange,
  type SemaphoreServer,
} from '../../semaphore-server.ts'
import type { KindClient } from '../../server-kind.ts'
import type { Subscription } from '../../subscription.ts'
import { WAITING_MS } from '../../waiting-time.ts'
import { requestKey } from '../calls/keys.ts'
import type { KindScripts, RedisKind } from '../calls/redis-kind.ts'
import { semaphoreKeys } from '../key-names/permits.ts'
import type { Binding, GivenSource } from '../scripts/script.ts'
import { AnsweredNames } from './answered-names.ts'
import { listenToBoth } from './listen-to-both.ts'
import * as semaphores from './semaphore-bindings.ts'

/** The server keeps a result for this time after the last possible repeat of the request, in milliseconds. */
const MARGIN_MS = 60_000

export class RedisSemaphoreServer implements SemaphoreServer {
  readonly server: KindScripts
  readonly clientId: string
  /** How long the server stores a result, in milliseconds. */
  readonly keptMs: number
  readonly answered: AnsweredNames
  /**
   * The owners and changes whose requests may still run. The server must not forget the results of
   * these requests. All semaphores share these sets, because a hand-over and an acquisition of the
   * same owner may use different objects for one semaphore.
   */
  readonly doubtfulOwners = new Set<string>()
  readonly doubtful = new WeakSet<object>()
  /** The owners of new grants, until their callers keep or abandon the grant. */
  readonly undecided = new Set<string>()

  constructor(server: KindScripts, { clientId, outageMs }: KindClient) {
    this.server = server
    this.clientId = clientId
    this.keptMs = GIVING_BACK_MS + outageMs + MARGIN_MS
    this.answered = new AnsweredNames((keys) =>
      server.runner.raw(server.timeoutMs, (client) => client.unlink(...keys)),
    )
    server.beforeClose(this.answered)
  }

  readonly ownerId = permitsId

  semaphore(rawName: string): RemoteSemaphore {
    return new RedisSemaphore(this, rawName)
  }
}

export const redisSemaphore: RedisKind = {
  kind: SEMAPHORE,
  type: 'string',
  open: (server, client) => new RedisSemaphoreServer(server, client),
}

class RedisSemaphore implements RemoteSemaphore {
  readonly #host: RedisSemaphoreServer
  readonly #rawName: string
  readonly #keys: ReturnType<typeof semaphoreKeys>

  constructor(host: RedisSemaphoreServer, rawName: string) {
    this.#host = host
    this.#rawName = rawName
    this.#keys = semaphoreKeys(rawName)
  }

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const given = () => this.#givenFor(attempt)
    const acquired = this.#acquired(attempt, reply)
    this.#run(attempt.owner, semaphores.acquire, given, attempt.callMs, acquired)
  }

  addAndAcquire(
    change: Addition,
    attempt: PermitAttempt,
    reply: Reply<PermitAnswer>,
  ): Promise<boolean> {
    const { permits, ifExists } = change
    const given = () => ({ permits, ifExists, ...this.#givenFor(attempt) })
    const taking = requestKey(this.#rawName, attempt.owner)
    const acquired = this.#acquired(attempt, reply)
    return this.#counted(change, (added) => {
      const names = { ...this.#namesFor(change.id), taking }
      const both = bothReplies(added, acquired)
      this.#host.server.runner.run(semaphores.handOver, names, given, attempt.callMs, both)
    })
  }

  #givenFor({ owner, waits, isLast, waitId, beganAt, behind }: PermitAttempt) {
    const { clientId, keptMs } = this.#host
    return {
      owner,
      client: waits ? clientId : '',
      last: isLast,
      waitingMs: WAITING_MS,
      since: waitId,
      waitedMs: waitedMsFrom(beganAt),
      keptMs,
      behindPermits: behind?.permits,
      behindWaitedMs: behind && waitedMsFrom(behind.beganAt),
    }
  }

  /** Returns the reply to an acquisition. The reply records if the server may forget the result. */
  #acquired({ owner }: PermitAttempt, reply: Reply<PermitAnswer>): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        const isCertain = answer.kind === 'granted' && !this.#host.doubtfulOwners.delete(owner)
        if (isCertain) this.#host.undecided.add(owner)
        // A caller that has given up abandons the grant inside `reply.answered`. The release of the
        // abandoned permits needs the stored result. So the server may forget the result only if
        // the caller keeps the grant.
        reply.answered(answer)
        if (this.#host.undecided.delete(owner)) this.#acknowledge(owner)
      },
      failed: (failure) => {
        if (failure.kind === 'unknown') this.#host.doubtfulOwners.add(owner)
        reply.failed(failure)
      },
    }
  }

  giveBack({ owner, callMs }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    this.#giveBack(owner, isLast, 0, callMs, reply)
  }

  abandon(owner: string, untilMs: number, _leaseMs: number, isLast: () => boolean): void {
    this.#host.undecided.delete(owner)
    this.#host.doubtfulOwners.delete(owner)
    // If a request may still run, the server stores 'returned' under the owner name. So the late
    // request takes no permits.
    const keptMs = untilMs > performance.now() ? this.#host.keptMs : 0
    const send = (callMs: number) =>
      promised<Released>((reply) => this.#giveBack(owner, isLast(), keptMs, callMs, reply))
    const of = { rawName: this.#rawName, owner }
    const pending = { send, of, untilMs, leaseMs: GIVING_BACK_MS }
    this.#host.server.pendingReleases(this.#rawName).add(pending)
  }

  stopWaiting(isLast: () => boolean): void {
    const { server, clientId: client } = this.#host
    const send = async (callMs: number) => {
      if (isLast()) await server.runner.request(semaphores.leave, this.#keys, { client }, callMs)
    }
    server.pendingReleases(this.#rawName).add({ send, untilMs: 0, leaseMs: WAITING_MS })
  }

  add(change: Addition, callMs: number): Promise<boolean> {
    const { permits, ifExists } = change
    const given = { permits, ifExists, keptMs: this.#host.keptMs }
    return this.#request(change, semaphores.add, given, callMs)
  }

  addLater(change: Addition): void {
    const send = (callMs: number) => this.add(change, callMs)
    const pending = { send, untilMs: 0, leaseMs: GIVING_BACK_MS }
    this.#host.server.pendingReleases(this.#rawName).add(pending)
  }

  change(change: SemaphoreChange, callMs: number): Promise<number> {
    const { what, permits, ttlMs } = change
    const given = { what, permits, ttlMs, keptMs: this.#host.keptMs }
    return this.#request(change, semaphores.change, given, callMs)
  }

  inspect(most: number, callMs: number): Promise<SemaphoreFacts> {
    return this.#host.server.runner.request(semaphores.inspect, this.#keys, { most }, callMs)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    const { server, clientId } = this.#host
    return listenToBoth(server, this.#keys, clientId, onHint)
  }

  #giveBack(
    owner: string,
    isLast: boolean,
    keptMs: number,
    callMs: number,
    reply: Reply<Released>,
  ): void {
    const given = { client: isLast ? this.#host.clientId : '', keptMs }
    this.#run(owner, semaphores.giveBack, given, callMs, reply)
  }

  #request<Given, A>(
    change: Addition | SemaphoreChange,
    binding: Binding<semaphores.StoredNames, Given, A>,
    given: Given,
    callMs: number,
  ): Promise<A> {
    return this.#counted(change, (reply) => this.#run(change.id, binding, given, callMs, reply))
  }

  /** Sends a request that counts once. After its answer, lets the server forget the result if no copy can arrive. */
  async #counted<A>(
    change: Addition | SemaphoreChange,
    send: (reply: Reply<A>) => void,
  ): Promise<A> {
    try {
      const answer = await promised(send)
      // The server keeps the result while an earlier copy of the request may still arrive.
      if (!this.#host.doubtful.has(change)) this.#acknowledge(change.id)
      return answer
    } catch (failure) {
      if ((failure as CallFailure).kind === 'unknown') this.#host.doubtful.add(change)
      throw failure
    }
  }

  /** Lets the server forget the result of a request, because the client has the answer. */
  #acknowledge(id: string): void {
    this.#host.answered.add(this.#rawName, requestKey(this.#rawName, id))
  }

  #run<Given, A>(
    id: string,
    binding: Binding<semaphores.StoredNames, Given, A>,
    given: GivenSource<Given>,
    callMs: number,
    reply: Reply<A>,
  ): void {
    this.#host.server.runner.run(binding, this.#namesFor(id), given, callMs, reply)
  }

  #namesFor(id: string): semaphores.StoredNames {
    const answered = this.#host.answered.takeNext(this.#rawName)
    return { ...this.#keys, request: requestKey(this.#rawName, id), answered }
  }
}
