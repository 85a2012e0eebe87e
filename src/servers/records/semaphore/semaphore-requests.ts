import type { Released } from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import { permitsId } from '../../owner-id.ts'
import type { PermitAnswer, PermitAttempt } from '../../permit-pool.ts'
import { bothReplies, promised, type Reply, replyWith } from '../../reply.ts'
import type { LoweredHold } from '../../requests.ts'
import {
  type Addition,
  GIVING_BACK_MS,
  type RemoteSemaphore,
  type SemaphoreChange,
  type SemaphoreServer,
} from '../../semaphore-server.ts'
import type { Subscription } from '../../subscription.ts'
import { changeRecord, type OpenRecord } from '../open-record.ts'
import type { RecordClient, RecordKind } from '../record-kind.ts'
import { forgetResults } from '../stored-results.ts'
import { waitGiven } from './go-on.ts'
import { listenToPool, POOL } from './pool.ts'
import {
  acquirePermits,
  addFreePermits,
  changePermits,
  giveBackPermits,
  handOverPermits,
  inspectPermits,
  removeWaiter,
} from './semaphore.ts'
import type { StoredChange } from './stored-change.ts'

class RecordSemaphores implements SemaphoreServer {
  readonly client: RecordClient
  /** How long the server remembers the result of a request, in milliseconds. */
  readonly keptMs: number
  /**
   * The ids of the answered requests, by semaphore. The next change of a semaphore tells the server
   * to forget these requests.
   */
  readonly #answered = new Map<string, Set<string>>()

  constructor(client: RecordClient) {
    this.client = client
    this.keptMs = GIVING_BACK_MS + client.outageMs
    client.beforeClose(() => this.#forgetAll())
  }

  readonly ownerId = permitsId

  semaphore(rawName: string): RemoteSemaphore {
    return new RecordSemaphore(this, rawName)
  }

  /**
   * Called when the client has received the answer. From then on, the server may forget the result
   * of the request.
   */
  acknowledge(rawName: string, id: string): void {
    const ids = this.#answered.get(rawName)
    if (ids === undefined) this.#answered.set(rawName, new Set([id]))
    else ids.add(id)
  }

  /**
   * Called when the client does not use the answer. The server must remember the request, because
   * the client will undo the request.
   */
  unacknowledge(rawName: string, id: string): void {
    this.#answered.get(rawName)?.delete(id)
  }

  /** Returns the ids of the answered requests, and removes them from this object. */
  takeIds(rawName: string): Iterable<string> {
    const ids = this.#answered.get(rawName) ?? []
    this.#answered.delete(rawName)
    return ids
  }

  /** Makes the server forget all answered requests now. */
  async #forgetAll(): Promise<void> {
    const forgotten = [...this.#answered.keys()].map((rawName) => {
      const ids = this.takeIds(rawName)
      return changeRecord(this.client.store, rawName, this.client.callMs, (record) =>
        forgetResults(record.part(POOL).results, ids),
      )
    })
    await Promise.allSettled(forgotten)
  }
}

class RecordSemaphore implements RemoteSemaphore {
  readonly #host: RecordSemaphores
  readonly #rawName: string

  constructor(host: RecordSemaphores, rawName: string) {
    this.#host = host
    this.#rawName = rawName
  }

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const { owner, callMs } = attempt
    const acquired = this.#change(owner, callMs, (record, request) =>
      acquirePermits(record, request, this.#given(attempt)),
    )
    replyWith(acquired, this.#acquired(owner, reply))
  }

  addAndAcquire(
    change: Addition,
    attempt: PermitAttempt,
    reply: Reply<PermitAnswer>,
  ): Promise<boolean> {
    const { owner, callMs } = attempt
    const { keptMs } = this.#host
    const taking = { id: owner, keptMs, answered: [] }
    const both = this.#change(change.id, callMs, (record, request) =>
      handOverPermits(record, request, change, taking, this.#given(attempt)),
    )
    return promised<boolean>((added) => {
      const addition: Reply<boolean> = {
        answered: (isAdded) => {
          this.#host.acknowledge(this.#rawName, change.id)
          added.answered(isAdded)
        },
        failed: (failure) => added.failed(failure),
      }
      replyWith(both, bothReplies(addition, this.#acquired(owner, reply)))
    })
  }

  #given(attempt: PermitAttempt) {
    const { store, clientId } = this.#host.client
    return { ...attempt, ...waitGiven(attempt, clientId, store.clock) }
  }

  /** Returns the reply to an acquisition. If it is granted, the server may forget its result. */
  #acquired(owner: string, reply: Reply<PermitAnswer>): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        if (answer.kind === 'granted') this.#host.acknowledge(this.#rawName, owner)
        reply.answered(answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  giveBack({ owner, callMs }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    replyWith(this.#giveBack(owner, isLast, callMs, 0), reply)
  }

  abandon(owner: string, untilMs: number, _leaseMs: number, isLast: () => boolean): void {
    const { store, pendingReleases } = this.#host.client
    this.#host.unacknowledge(this.#rawName, owner)
    const keptMs = untilMs > store.clock.monotonic() ? this.#host.keptMs : 0
    const send = (callMs: number) => this.#giveBack(owner, isLast(), callMs, keptMs)
    const of = { rawName: this.#rawName, owner }
    pendingReleases.add({ send, of, untilMs, leaseMs: GIVING_BACK_MS })
  }

  stopWaiting(): void {
    const { store, clientId, callMs } = this.#host.client
    const removed = changeRecord(store, this.#rawName, callMs, (record) =>
      removeWaiter(record, clientId),
    )
    // If the request is lost, the place expires by itself.
    removed.catch(() => {})
  }

  add(change: Addition, callMs: number): Promise<boolean> {
    return this.#acknowledged(change.id, callMs, (record, request) =>
      addFreePermits(record, request, change),
    )
  }

  addLater(change: Addition): void {
    const send = (callMs: number) => this.add(change, callMs)
    this.#host.client.pendingReleases.add({ send, untilMs: 0, leaseMs: GIVING_BACK_MS })
  }

  change(change: SemaphoreChange, callMs: number): Promise<number> {
    return this.#acknowledged(change.id, callMs, (record, request) =>
      changePermits(record, request, change),
    )
  }

  inspect(most: number, callMs: number) {
    const { store } = this.#host.client
    return changeRecord(store, this.#rawName, callMs, (record) => inspectPermits(record, most))
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    const { store, clientId } = this.#host.client
    return listenToPool(store, this.#rawName, clientId, onHint)
  }

  #giveBack(owner: string, isLast: boolean, callMs: number, keptMs: number): Promise<Released> {
    const client = isLast ? this.#host.client.clientId : ''
    return this.#change(
      owner,
      callMs,
      (record, request) => giveBackPermits(record, request, client),
      keptMs,
    )
  }

  async #acknowledged<T>(id: string, callMs: number, verb: StoredVerb<T>): Promise<T> {
    const answer = await this.#change(id, callMs, verb)
    this.#host.acknowledge(this.#rawName, id)
    return answer
  }

  #change<T>(
    id: string,
    callMs: number,
    verb: StoredVerb<T>,
    keptMs = this.#host.keptMs,
  ): Promise<T> {
    const { store } = this.#host.client
    const request = { id, keptMs, answered: this.#host.takeIds(this.#rawName) }
    return changeRecord(store, this.#rawName, callMs, (record) => verb(record, request))
  }
}

type StoredVerb<T> = (record: OpenRecord, request: StoredChange) => T

export const recordSemaphore: RecordKind<SemaphoreServer> = (client) => new RecordSemaphores(client)
