import { performance } from 'node:perf_hooks'
import { readClientInfo, readWireFormat } from '../../src/index.ts'
import type { Command, ServerClient } from '../servers/open-server.ts'
import { processKey } from './key-names.ts'
import type { Masters } from './masters.ts'
import { replyIfAny } from './reply.ts'
import type { ProcessFacts } from './rows.ts'

/**
 * After this time, in milliseconds, a client is looked up again, because it may have reported
 * itself since.
 */
const LOOK_AGAIN_MS = 5_000
/** At most this many clients are remembered. */
const MOST_KNOWN = 10_000

interface Known {
  /**
   * The last known process. Null until the client is found for the first time. It stays known after
   * the client has ended.
   */
  readonly about: Omit<ProcessFacts, 'seenMs'> | null
  /** When the client last reported itself, by the local clock; null if it never did. */
  readonly seenAt: number | null
  /** For each key that the client waits for: when the wait began, by the local clock. */
  readonly waits: ReadonlyMap<string, number>
  readonly askedAt: number
}

/** The processes of the clients of a deployment, their last reports, and their waits. */
export class KnownClients {
  readonly #known = new Map<string, Known>()

  of(client: string): ProcessFacts | null {
    const known = this.#known.get(client)
    if (known?.about == null) return null
    const seenMs = known.seenAt === null ? null : Math.round(performance.now() - known.seenAt)
    return { ...known.about, seenMs }
  }

  /**
   * The clients that reported a wait for this key, and how long they have waited. The longest wait
   * is first.
   */
  waitersFor(key: string): { readonly client: string; readonly waitedMs: number }[] {
    const now = performance.now()
    return [...this.#known]
      .flatMap(([client, { waits }]) => {
        const since = waits.get(key)
        return since === undefined ? [] : [{ client, waitedMs: Math.round(now - since) }]
      })
      .sort((a, b) => b.waitedMs - a.waitedMs)
  }

  /**
   * Looks up the clients that were not looked up recently. A client stays unknown if the login may
   * not read its key.
   */
  async ask(masters: Masters, clients: Iterable<string>): Promise<void> {
    const due = [...new Set(clients)].filter((client) => {
      const known = this.#known.get(client)
      return known === undefined || performance.now() - known.askedAt > LOOK_AGAIN_MS
    })
    const by = new Map<ServerClient, string[]>()
    for (const client of due) {
      const server = masters.find(processKey(client))
      if (server !== undefined) by.set(server, [...(by.get(server) ?? []), client])
    }
    await Promise.all([...by].map(([server, some]) => this.#askOne(server, some)))
  }

  async #askOne(server: ServerClient, clients: readonly string[]): Promise<void> {
    const replies = await server.askAll([
      ['TIME'],
      ...clients.flatMap((client): Command[] =>
        ['about', 'at', 'note/waits'].map((field) => ['HGET', processKey(client), field]),
      ),
    ])
    const [seconds, micros] = replyIfAny<string[]>(replies[0], [])
    const serverMs = Number(seconds) * 1e3 + Number(micros) / 1e3
    for (const [i, client] of clients.entries()) {
      const [about, at, waits] = replies
        .slice(3 * i + 1, 3 * i + 4)
        .map((one) => replyIfAny<string | null>(one, null))
      this.#keep(client, about ?? null, at ?? null, waits ?? null, serverMs)
    }
  }

  #keep(
    client: string,
    about: string | null,
    at: string | null,
    waits: string | null,
    serverMs: number,
  ): void {
    const before = this.#known.get(client)
    const [oldest] = this.#known.keys()
    if (before === undefined && this.#known.size >= MOST_KNOWN && oldest !== undefined) {
      this.#known.delete(oldest)
    }
    const now = performance.now()
    const [, serverAt, clientAt] = /^(\d+) (\d+)$/.exec(at ?? '') ?? []
    const seenAt = serverAt === undefined ? null : now - Math.max(0, serverMs - Number(serverAt))
    // Converts a time of the client's clock to the local clock. `at` has one moment by both the
    // server's clock and the client's clock.
    const here = (clientMs: number) => (seenAt ?? now) - (Number(clientAt ?? clientMs) - clientMs)
    const info = readClientInfo(client, about)
    const wireVersion = readWireFormat(about)?.version ?? null
    const own = info && { client, label: info.label, host: info.host, pid: info.pid, wireVersion }
    this.#known.set(client, {
      about: own ?? before?.about ?? null,
      seenAt: seenAt ?? before?.seenAt ?? null,
      waits: new Map(waitsIn(waits).map(([key, since]) => [key, here(since)])),
      askedAt: now,
    })
  }
}

/**
 * For each key that a client waits for: when the wait began, by the client's clock in milliseconds.
 */
function waitsIn(text: string | null): (readonly [string, number])[] {
  return Object.entries(objectIn(text)).flatMap(([key, since]) =>
    typeof since === 'number' ? [[key, since] as const] : [],
  )
}

function objectIn(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
