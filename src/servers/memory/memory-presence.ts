import { type ClientInfo, type OwnInfo, type Presence, readClientInfo } from '../presence.ts'
import type { MemoryLockServer } from './memory-server.ts'

interface PresenceMemoryConnection {
  readonly server: MemoryLockServer
  request<T>(work: () => T): Promise<T>
}

/** Reports one client to the other clients of a server in memory. */
export class MemoryPresence implements Presence {
  readonly #connection: PresenceMemoryConnection
  readonly #client: string
  readonly #tells: boolean

  constructor(connection: PresenceMemoryConnection, { info, tells }: OwnInfo) {
    this.#connection = connection
    this.#client = info.client
    this.#tells = tells
    if (tells) connection.server.clients.set(info.client, info)
  }

  renews(): void {}

  reportWaits(waits: string): void {
    if (this.#tells) this.#connection.server.waits.set(this.#client, waits)
  }

  set(owner: string, text: string | undefined): void {
    const { notes } = this.#connection.server
    if (text === undefined) notes.delete(owner)
    else if (this.#tells) notes.set(owner, text)
  }

  get(owner: string): Promise<string | undefined> {
    return this.#connection
      .request(() => this.#connection.server.notes.get(owner))
      .catch(() => undefined)
  }

  clientInfo(clientId: string): Promise<ClientInfo | null> {
    const { clients } = this.#connection.server
    return this.#connection.request(() =>
      readClientInfo(clientId, JSON.stringify(clients.get(clientId) ?? null)),
    )
  }

  withdraw(): void {
    const { clients, notes, waits } = this.#connection.server
    clients.delete(this.#client)
    waits.delete(this.#client)
    for (const owner of notes.keys()) if (owner.startsWith(this.#client)) notes.delete(owner)
  }
}
