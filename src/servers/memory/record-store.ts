import type { KindRecord, RecordStore, ServerKind, ServerMoment } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { refuseAllOthers } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'

interface RecordConnection {
  readonly server: MemoryLockServer
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

/** The records of kinds that are no members of `LockServer`, for one client. */
export class MemoryRecordStore implements RecordStore {
  readonly #connection: RecordConnection

  constructor(connection: RecordConnection) {
    this.#connection = connection
  }

  transact<S extends KindRecord, T>(
    kind: ServerKind<object>,
    rawName: string,
    newRecord: () => S,
    change: (record: S, moment: ServerMoment) => T,
  ): Promise<T> {
    const { server } = this.#connection
    return this.#connection.request((nowMs) => {
      const record = server.record(rawName, nowMs)
      refuseAllOthers(record, kind.what)
      const part = record.partOf(kind.what, newRecord)
      return change(part, { nowMs, uniqueUs: () => server.tokenFloor(nowMs) })
    })
  }

  publish({ name }: ServerKind<object>, rawName: string, message: string): void {
    this.#connection.server.kindMessages.publish(`${name} ${rawName}`, message)
  }

  listen(
    { name }: ServerKind<object>,
    rawName: string,
    onWake: (message?: string) => void,
  ): Subscription {
    const { kindMessages } = this.#connection.server
    return this.#connection.listen(kindMessages, `${name} ${rawName}`, onWake)
  }
}
