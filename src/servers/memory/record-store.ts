import type { Clock } from '../../kit/clock.ts'
import type { Changed, NameRecord, RecordStore, ServerMoment } from '../record-store.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { useOf } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'

interface RecordConnection {
  readonly server: MemoryLockServer
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

/** The records of a server in memory, for one client. */
export class MemoryRecordStore implements RecordStore {
  readonly #connection: RecordConnection

  constructor(connection: RecordConnection) {
    this.#connection = connection
  }

  get clock(): Clock {
    return this.#connection.server.clock
  }

  transact<T>(
    names: readonly string[],
    change: (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>,
  ): Promise<T> {
    const { server } = this.#connection
    return this.#connection.request((nowMs) => {
      const records = names.map((name) => {
        const record = server.record(name, nowMs)
        useOf(record)
        return record.plain
      })
      const { answer, messages } = change(records, new MemoryMoment(server, nowMs))
      for (const { channel, message } of messages) server.messages.publish(channel, message)
      return answer
    })
  }

  publish(channel: string, message: string): Promise<number> {
    const { server } = this.#connection
    return this.#connection.request(() => server.messages.publish(channel, message))
  }

  listen(channel: string, onMessage: (message?: string) => void): Subscription {
    return this.#connection.listen(this.#connection.server.messages, channel, onMessage)
  }
}

class MemoryMoment implements ServerMoment {
  readonly nowMs: number
  /** The clients are in the same process, so they use the same clock. */
  readonly aheadMs = 0
  readonly #server: MemoryLockServer

  constructor(server: MemoryLockServer, nowMs: number) {
    this.#server = server
    this.nowMs = nowMs
  }

  get steadyMs(): number {
    return this.#server.clock.monotonic()
  }

  uniqueUs(reserve?: number): number {
    return this.#server.tokenFloor(this.nowMs, reserve)
  }

  listeners(channel: string): number {
    return this.#server.messages.count(channel)
  }
}
