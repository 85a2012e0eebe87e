import { GIVING_BACK_MS, type RemoteSemaphore, type SemaphoreServer } from '../semaphore-server.ts'
import { MemoryPool, type PoolConnection } from './memory-pool.ts'
import { MemorySemaphore } from './memory-semaphore.ts'

/** The semaphores on a server in memory, for one client. */
export class MemorySemaphoreServer implements SemaphoreServer {
  readonly #connection: PoolConnection
  readonly #clientId: string
  /** How long the server remembers a request, in milliseconds. */
  readonly keptMs: number
  /**
   * The requests whose answers this client has received. The server forgets them with the next
   * request for the same semaphore.
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

  /** The client has received the answer, so the server can forget the request. */
  heard(rawName: string, id: string): void {
    const ids = this.#answered.get(rawName)
    if (ids === undefined) this.#answered.set(rawName, new Set([id]))
    else ids.add(id)
  }

  /** The client cannot use the answer, so the server must still remember the request. */
  unheard(rawName: string, id: string): void {
    this.#answered.get(rawName)?.delete(id)
  }

  /**
   * Returns the ids of the answered requests, which the next request sends, and removes them here.
   */
  take(rawName: string): Iterable<string> {
    const ids = this.#answered.get(rawName) ?? []
    this.#answered.delete(rawName)
    return ids
  }

  /** Makes the server forget all answered requests at once. */
  quiet(): void {
    const { server } = this.#connection
    const { now } = server
    for (const rawName of [...this.#answered.keys()]) {
      server.record(rawName, now).semaphore.requests.forget(this.take(rawName))
    }
  }
}
