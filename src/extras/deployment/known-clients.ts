import { readClientInfo } from '../../index.ts'
import type { ServerClient } from '../servers/open-server.ts'
import { processKey } from './key-names.ts'
import type { Masters } from './open-masters.ts'
import { replyIfAny } from './reply.ts'
import type { ProcessFacts } from './rows.ts'

/** What a client tells of itself never changes; that it tells nothing may. */
const LOOK_AGAIN_MS = 5_000
/** No more clients are kept in mind. */
const MOST_KNOWN = 10_000

interface Known {
  readonly facts: ProcessFacts | null
  readonly at: number
}

/** Which processes clients are of, as they tell of themselves. */
export class KnownClients {
  readonly #known = new Map<string, Known>()

  of(client: string): ProcessFacts | null {
    return this.#known.get(client)?.facts ?? null
  }

  /** Asks about those that are not known. Where that is refused they stay unknown. */
  async ask(masters: Masters, clients: Iterable<string>): Promise<void> {
    const unknown = [...new Set(clients)].filter((client) => {
      const known = this.#known.get(client)
      if (known === undefined) return true
      return known.facts === null && performance.now() - known.at > LOOK_AGAIN_MS
    })
    const by = new Map<ServerClient, string[]>()
    for (const client of unknown) {
      const server = masters.at(processKey(client))
      by.set(server, [...(by.get(server) ?? []), client])
    }
    const asking = [...by].map(async ([server, some]) => {
      const replies = await server.askAll(some.map((one) => ['HGET', processKey(one), 'about']))
      for (const [i, client] of some.entries()) this.#keep(client, replyIfAny(replies[i], null))
    })
    await Promise.all(asking)
  }

  #keep(client: string, about: string | null): void {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
    const info = readClientInfo(client, about)
    const facts = info && { client, label: info.label, host: info.host, pid: info.pid }
    this.#known.set(client, { facts, at: performance.now() })
  }
}
