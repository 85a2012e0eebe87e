import type { LatchFacts } from '../answers.ts'
import { type LatchState, OPEN, type RemoteLatch } from '../latch-server.ts'
import type { OnceRequest } from '../once-request.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { refuseOtherKinds } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'

interface LatchMemoryConnection {
  readonly server: MemoryLockServer
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

export class MemoryLatch implements RemoteLatch {
  readonly #connection: LatchMemoryConnection
  readonly #rawName: string
  /**
   * The answers by request. After an outage the client may send a request again, and gets the same
   * answer.
   */
  readonly #answers = new WeakMap<OnceRequest, unknown>()

  constructor(connection: LatchMemoryConnection, rawName: string) {
    this.#connection = connection
    this.#rawName = rawName
  }

  trySetCount(count: number, request: OnceRequest, _callMs: number): Promise<boolean> {
    return this.#once(request, (record, now) => {
      if (record.latch !== null) return false
      const { server } = this.#connection
      record.latch = { count, round: server.tokenFloor(now), setAt: server.clock.monotonic() }
      this.#publish('1')
      return true
    })
  }

  countDown(request: OnceRequest, _callMs: number, round?: number): Promise<LatchState | null> {
    return this.#once(request, (record) => {
      const { latch } = record
      if (isOfOtherRound(latch, request, round)) return null
      if (latch === null) return OPEN
      latch.count -= 1
      if (latch.count > 0) return { count: latch.count, round: latch.round }
      record.latch = null
      this.#publish('0')
      return OPEN
    })
  }

  delete(request: OnceRequest, _callMs: number, round?: number): Promise<boolean> {
    return this.#once(request, (record) => {
      const { latch } = record
      if (latch === null || isOfOtherRound(latch, request, round)) return false
      record.latch = null
      this.#publish('1')
      return true
    })
  }

  read(_callMs: number): Promise<LatchState> {
    return this.#do(({ latch }) => (latch === null ? OPEN : { ...latch }))
  }

  inspect(_callMs: number): Promise<LatchFacts> {
    return this.#do(({ latch, rawName }) => ({
      count: latch?.count ?? 0,
      waiters: this.#connection.server.latchMessages.count(rawName),
      round: latch?.round ?? null,
    }))
  }

  listen(onWake: () => void): Subscription {
    const { latchMessages } = this.#connection.server
    return this.#connection.listen(latchMessages, this.#rawName, () => onWake())
  }

  #publish(message: string): void {
    this.#connection.server.latchMessages.publish(this.#rawName, message)
  }

  #once<T>(request: OnceRequest, work: (record: LockRecord, now: number) => T): Promise<T> {
    return this.#do((record, now) => {
      if (!this.#answers.has(request)) this.#answers.set(request, work(record, now))
      return this.#answers.get(request) as T
    })
  }

  #do<T>(work: (record: LockRecord, now: number) => T): Promise<T> {
    return this.#connection.request((now) => {
      const record = this.#connection.server.record(this.#rawName, now)
      refuseOtherKinds(record, 'latch')
      return work(record, now)
    })
  }
}

/**
 * True if the call is about another round than the current one. With `round`, the call names its
 * round. Without it, the call must have been made after the current round began.
 */
function isOfOtherRound(
  latch: LockRecord['latch'],
  { askedAt }: OnceRequest,
  round: number | undefined,
): boolean {
  if (round !== undefined) return latch?.round !== round
  return latch !== null && latch.setAt > askedAt
}
