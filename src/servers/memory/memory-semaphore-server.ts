import { GIVING_BACK_MS, type RemoteSemaphore, type SemaphoreServer } from '../semaphore-server.ts'
import { MemoryPool, type PoolConnection } from './memory-pool.ts'
import { MemorySemaphore } from './memory-semaphore.ts'

/** The semaphores on a server in memory, as one client waits for them. */
export class MemorySemaphoreServer implements SemaphoreServer {
  readonly #connection: PoolConnection
  readonly #clientId: string
  /** How long a request is remembered there, in milliseconds. */
  readonly keptMs: number
  /** The requests whose answers this client has: they are forgotten with the next one for the same semaphore. */
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

  /** Its answer was heard: it need not be remembered any longer. */
  heard(rawName: string, id: string): void {
    const ids = this.#answered.get(rawName)
    if (ids === undefined) this.#answered.set(rawName, new Set([id]))
    else ids.add(id)
  }

  /** Its answer was of no use. */
  unheard(rawName: string, id: string): void {
    this.#answered.get(rawName)?.delete(id)
  }

  /** Those that go with a request that is about to be made. */
  take(rawName: string): Iterable<string> {
    const ids = this.#answered.get(rawName) ?? []
    this.#answered.delete(rawName)
    return ids
  }

  /** Nothing is left to be forgotten. */
  quiet(): void {
    const { server } = this.#connection
    const { now } = server
    for (const rawName of [...this.#answered.keys()]) {
      server.record(rawName, now).semaphore.requests.forget(this.take(rawName))
    }
  }
}
