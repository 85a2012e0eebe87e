import { GIVING_BACK_MS, type RemoteSemaphore, type SemaphoreServer } from '../semaphore-server.ts'
import { MemoryPool, type PoolConnection } from './memory-pool.ts'
import { MemorySemaphore } from './memory-semaphore.ts'

/** The semaphores without leases on a server in memory, as one client uses them. */
export class MemorySemaphoreServer implements SemaphoreServer {
  readonly #connection: PoolConnection
  readonly #clientId: string
  /** How long the server remembers the result of a request, in milliseconds. */
  readonly keptMs: number
  /**
   * The ids of the answered requests, by semaphore. The next request for a semaphore tells the
   * server to forget these requests.
   */
  readonly #answered = new Map<string, Set<string>>()

  constructor(connection: PoolConnection, clientId: string, outageMs: number) {
    this.#connection = connection
    this.#clientId = clientId
    this.keptMs = GIVING_BACK_MS + outageMs
  }

  semaphore(rawName: string): RemoteSemaphore {
    const pool = new MemoryPool(this.#connection, this.#clientId, rawName, 'semaphore')
    return new MemorySemaphore(this, pool)
  }

  /**
   * Called when the client has received the answer. From then on the server may forget the request.
   */
  acknowledge(rawName: string, id: string): void {
    const ids = this.#answered.get(rawName)
    if (ids === undefined) this.#answered.set(rawName, new Set([id]))
    else ids.add(id)
  }

  /**
   * Called when the client does not use the answer. The server must remember the request, because
   * the client will undo it.
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
  quiet(): void {
    const { server } = this.#connection
    const { now } = server
    for (const rawName of [...this.#answered.keys()]) {
      server.record(rawName, now).semaphore.requests.forget(this.takeIds(rawName))
    }
  }
}
