import type { LatchFacts } from '../answers.ts'
import type { LatchState, RemoteLatch } from '../latch-server.ts'
import type { OnceRequest } from '../once-request.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { refuseOtherKinds } from './kind-of-lock.ts'
import type { MemoryServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'

/** What one latch needs of its connection. */
interface Connection {
  readonly server: MemoryServer
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

/** One count-down latch on a server in memory. No request is sent twice there, so that none is remembered. */
export class MemoryLatch implements RemoteLatch {
  readonly #connection: Connection
  readonly #rawName: string

  constructor(connection: Connection, rawName: string) {
    this.#connection = connection
    this.#rawName = rawName
  }

  trySetCount(count: number, _request: OnceRequest, _callMs: number): Promise<boolean> {
    return this.#do((record) => {
      if (record.latch !== null) return false
      record.latch = { count, round: this.#connection.server.nextRound() }
      this.#tell('1')
      return true
    })
  }

  countDown(_request: OnceRequest, _callMs: number): Promise<number> {
    return this.#do((record) => {
      const { latch } = record
      if (latch === null) return 0
      latch.count -= 1
      if (latch.count > 0) return latch.count
      record.latch = null
      this.#tell('0')
      return 0
    })
  }

  delete(_request: OnceRequest, _callMs: number): Promise<boolean> {
    return this.#do((record) => {
      if (record.latch === null) return false
      record.latch = null
      this.#tell('1')
      return true
    })
  }

  look(_callMs: number): Promise<LatchState> {
    return this.#do(({ latch }) => ({ count: latch?.count ?? 0, round: latch?.round ?? null }))
  }

  inspect(_callMs: number): Promise<LatchFacts> {
    return this.#do(({ latch, rawName }) => ({
      count: latch?.count ?? 0,
      waiters: this.#connection.server.latchMessages.count(rawName),
    }))
  }

  listen(onWake: () => void): Subscription {
    const { latchMessages } = this.#connection.server
    return this.#connection.listen(latchMessages, this.#rawName, () => onWake())
  }

  #tell(message: string): void {
    this.#connection.server.latchMessages.publish(this.#rawName, message)
  }

  #do<T>(work: (record: LockRecord) => T): Promise<T> {
    return this.#connection.request((now) => {
      const record = this.#connection.server.record(this.#rawName, now)
      refuseOtherKinds(record, 'latch')
      return work(record)
    })
  }
}
