import { performance } from 'node:perf_hooks'
import { readClientInfo, readWireFormat } from '../../../src/index.ts'
import { clientKey } from '../../../src/servers/redis/calls/keys.ts'
import type { RedisCommand, ServerClient } from '../../servers/open-server.ts'
import { type BareDetail, withProcesses } from '../conclude.ts'
import type { LockDetail, ProcessFacts } from '../inspection.ts'
import { clientOf } from '../owner-ids.ts'
import { keptIn, waitsIn } from '../reported-waits.ts'
import { replyIfAny } from './answers.ts'
import type { Masters } from './masters.ts'

/** The facts about a client count as old after this time, in milliseconds. */
const LOOK_AGAIN_MS = 5_000
const MOST_KNOWN = 10_000

/** The time limit of the search for all clients, in milliseconds. */
const SEARCH_MS = 2_000

interface Known {
  /**
   * The last known process of the client, even after the client has ended. Null if the client was
   * never found.
   */
  readonly about: Omit<ProcessFacts, 'seenMs'> | null
  /**
   * When the client last reported itself, in milliseconds on the local monotonic clock. Null if
   * there is no report with a time.
   */
  readonly seenAt: number | null
  /** When the wait for each lock began, in milliseconds on the local monotonic clock. */
  readonly waits: ReadonlyMap<string, number>
  /** When the client began to keep each lock without use, in milliseconds on the local monotonic clock. */
  readonly kept: ReadonlyMap<string, number>
  readonly readAt: number
}

/**
 * Remembers what the clients of a deployment report: their processes, the times of their last
 * reports, their waits and their kept locks.
 */
export class KnownClients {
  readonly #known = new Map<string, Known>()

  /**
   * Adds the processes of the holders and waiters. Also adds waiters without a place, such as the
   * waiters of a plain lock.
   */
  async complete(masters: Masters, details: readonly BareDetail[]): Promise<LockDetail[]> {
    const owners = details.flatMap(({ holders, queue }) => [...holders, ...queue])
    const clients = owners.map(({ owner }) => clientOf(owner)).filter((one) => one.length === 21)
    await this.lookUp(masters, clients)
    return details.map((detail) =>
      withProcesses(
        detail,
        (client) => this.#of(client),
        this.#waitersFor(detail.key),
        (client) => this.#keptMs(client, detail.key),
      ),
    )
  }

  #of(client: string): ProcessFacts | null {
    const known = this.#known.get(client)
    if (known?.about == null) return null
    const seenMs = known.seenAt === null ? null : Math.round(performance.now() - known.seenAt)
    return { ...known.about, seenMs }
  }

  /** Returns for how long the client has kept the lock without use; undefined if the lock is not kept. */
  #keptMs(client: string, key: string): number | undefined {
    const since = this.#known.get(client)?.kept.get(key)
    return since === undefined ? undefined : Math.round(performance.now() - since)
  }

  /** Returns the clients that reported a wait for this lock. */
  #waitersFor(key: string) {
    const now = performance.now()
    return [...this.#known].flatMap(([client, { waits }]) => {
      const since = waits.get(key)
      return since === undefined ? [] : [{ client, waitedMs: Math.round(now - since) }]
    })
  }

  /**
   * Reads the facts about all clients that `find` yields within `SEARCH_MS`. The other clients stay
   * unknown.
   */
  async lookUpAll(
    masters: Masters,
    find: (signal: AbortSignal) => AsyncIterable<readonly string[]>,
  ): Promise<void> {
    const signal = AbortSignal.timeout(SEARCH_MS)
    try {
      for await (const clients of find(signal)) await this.lookUp(masters, clients)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /**
   * Reads the facts about the given clients, but not again within `LOOK_AGAIN_MS`. A client stays
   * unknown if the login may not read its key.
   */
  async lookUp(masters: Masters, clients: Iterable<string>): Promise<void> {
    const due = [...new Set(clients)].filter((client) => {
      const known = this.#known.get(client)
      return known === undefined || performance.now() - known.readAt > LOOK_AGAIN_MS
    })
    const by = new Map<ServerClient, string[]>()
    for (const client of due) {
      const server = masters.find(clientKey(client))
      if (server !== undefined) by.set(server, [...(by.get(server) ?? []), client])
    }
    await Promise.all([...by].map(([server, some]) => this.#lookUpOne(server, some)))
  }

  async #lookUpOne(server: ServerClient, clients: readonly string[]): Promise<void> {
    const replies = await server.sendAll([
      ['TIME'],
      ...clients.flatMap((client): RedisCommand[] =>
        ['about', 'at', 'note/waits'].map((field) => ['HGET', clientKey(client), field]),
      ),
    ])
    const [seconds, micros] = replyIfAny<string[]>(replies[0], [])
    const serverMs = Number(seconds) * 1e3 + Number(micros) / 1e3
    for (const [i, client] of clients.entries()) {
      const [about, at, waits] = replies
        .slice(3 * i + 1, 3 * i + 4)
        .map((one) => replyIfAny<string | null>(one, null))
      this.#remember(client, about ?? null, at ?? null, waits ?? null, serverMs)
    }
  }

  #remember(
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
    // Converts a time of the client's clock to the local clock. `at` contains one moment by the
    // server's clock and by the client's clock.
    const here = (clientMs: number) => (seenAt ?? now) - (Number(clientAt ?? clientMs) - clientMs)
    const info = readClientInfo(client, about)
    const wireVersion = readWireFormat(about)?.version ?? null
    const own = info && { client, label: info.label, host: info.host, pid: info.pid, wireVersion }
    this.#known.set(client, {
      about: own ?? before?.about ?? null,
      seenAt: seenAt ?? before?.seenAt ?? null,
      waits: new Map(waitsIn(waits).map(([key, since]) => [key, here(since)])),
      kept: new Map(keptIn(waits).map(([key, since]) => [key, here(since)])),
      readAt: now,
    })
  }
}
