import type { ClientInfo, Presence } from '../servers/presence.ts'
import { clientIdOf } from '../servers/presence.ts'

/** So many are remembered. */
const MOST = 100

/** The clients that were asked about, and this one: what a client tells of itself never changes. */
export class Clients {
  readonly #presence: Presence
  readonly #known = new Map<string, ClientInfo>()

  constructor(presence: Presence, own: ClientInfo) {
    this.#presence = presence
    this.#known.set(own.client, own)
  }

  /** The client of that owner, if it is known. */
  find(owner: string): ClientInfo | null {
    return this.#known.get(clientIdOf(owner)) ?? null
  }

  /** Asks, and rejects with a `CallFailure` and nothing else; null where nobody knows. */
  async ask(owner: string, callMs: number): Promise<ClientInfo | null> {
    const info = await this.#presence.clientInfo(clientIdOf(owner), callMs)
    if (info === null) return null
    this.#known.set(info.client, info)
    if (this.#known.size > MOST) this.#known.delete([...this.#known.keys()][1] as string)
    return info
  }
}
