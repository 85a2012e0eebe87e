import type { LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { ReadWriteServer, RemoteReadWriteLock } from '../read-write-server.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import { MemoryReadWriteLock, type ReadWriteConnection } from './memory-read-write-lock.ts'

interface ReadWriteMemoryConnection extends ReadWriteConnection {
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** The read-write locks on a server in memory, as one client uses them. */
export class MemoryReadWriteServer implements ReadWriteServer {
  readonly #connection: ReadWriteMemoryConnection
  readonly #clientId: string

  constructor(connection: ReadWriteMemoryConnection, clientId: string) {
    this.#connection = connection
    this.#clientId = clientId
  }

  lock(rawName: string): RemoteReadWriteLock {
    return new MemoryReadWriteLock(this.#connection, this.#clientId, rawName)
  }

  groups(locks: readonly { readonly key: string }[]): number[][] {
    return this.#connection.groups(locks)
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number): Promise<RenewedLease[]> {
    const { server, counterMs } = this.#connection
    return this.#connection
      .request((now) =>
        leases.map(({ key, wireOwner }) => {
          const record = server.record(key, now)
          const { readWrite } = record
          if (leaseMs > 0 && readWrite.ttlMsOf(wireOwner, now) !== 'gone') {
            readWrite.lengthen(wireOwner, leaseMs, now)
            record.extendCounter(leaseMs, counterMs, now)
          }
          return readWrite.ttlMsOf(wireOwner, now)
        }),
      )
      .catch((failure: CallFailure) => leases.map(() => failure))
  }
}
