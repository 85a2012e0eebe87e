import { redisCli } from '../servers/endpoint.ts'
import type { Where } from '../servers/where.ts'
import type { BareDetail } from './conclude.ts'
import { findClients, findEndless, findHeld, findNamed } from './find-keys.ts'
import { forceRelease } from './force-release.ts'
import { clientOf } from './key-names.ts'
import { KnownClients } from './known-clients.ts'
import type { Masters } from './masters.ts'
import { votesOf } from './merge.ts'
import { noteRelease } from './note-release.ts'
import { addressOfAll, openMasters } from './open-masters.ts'
import { readFreeLocks } from './read-free-locks.ts'
import type { Cost, Deployment, Forced, LockDetail, LockRow, SeenHolder } from './rows.ts'
import { timed } from './timed.ts'
import { merged, viewsOf } from './views.ts'
import { rowIn, withProcesses } from './with-processes.ts'

/**
 * The most locks that one batch of requests reads. While a server runs one batch, it serves no
 * other client.
 */
const AT_A_TIME = 100

/** The time limit of the search for all clients of a deployment, in milliseconds. */
const SEARCH_MS = 2_000

/**
 * Returns a view of the locks of a deployment. The view connects at the first request, and connects
 * again after a failure.
 *
 * @param timeoutMs the time limit of each request to a server, in milliseconds
 */
export function openDeployment(
  where: Where,
  { timeoutMs = 5_000 }: { readonly timeoutMs?: number } = {},
): Deployment {
  return new RedisDeployment(where, timeoutMs)
}

type ScanOptions = NonNullable<Parameters<Deployment['scan']>[0]>

class RedisDeployment implements Deployment {
  readonly address: string
  readonly #where: Where
  readonly #timeoutMs: number
  readonly #clients = new KnownClients()
  #masters: Promise<Masters> | undefined
  #opened: Masters | undefined
  #costBefore = NOTHING
  #tookMs = 0
  readonly #addMs = (ms: number) => {
    this.#tookMs += ms
  }

  constructor(where: Where, timeoutMs: number) {
    this.address = addressOfAll(where)
    this.#where = where
    this.#timeoutMs = timeoutMs
  }

  get cost(): Cost {
    const { commands, bytes } = plus(this.#costBefore, costOf(this.#opened))
    return { commands, bytes, tookMs: Math.round(this.#tookMs) }
  }

  get unreachable() {
    return this.#opened?.unreachable ?? []
  }

  scan(options: ScanOptions = {}) {
    return timed(this.#scan(options), this.#addMs)
  }

  scanEndless(options: { signal?: AbortSignal } = {}) {
    return timed(this.#scanEndless(options), this.#addMs)
  }

  async *#scan({ pattern, heldOnly = false, signal }: ScanOptions) {
    const masters = await this.#open()
    const seen = new Set<string>()
    const fresh = (found: Iterable<string>) => {
      const some = [...new Set(found)].filter((key) => !seen.has(key))
      for (const key of some) seen.add(key)
      return some
    }
    try {
      const counted = new Set<string>()
      for (const server of heldOnly ? [] : masters.all) {
        for await (const found of findNamed(server, { pattern, signal })) {
          for (const key of found.counted) counted.add(key)
          await this.#clients.lookUp(masters, found.clients)
          for (const keys of inChunks(fresh(found.more))) yield await this.#readRows(masters, keys)
        }
      }
      // The search above also finds the clients, and the clients report the waiters of plain locks.
      // So held locks are read after that search.
      for (const server of masters.all) {
        for await (const found of findHeld(server, { pattern, signal })) {
          for (const keys of inChunks(fresh(found))) yield await this.#readRows(masters, keys)
        }
      }
      for (const keys of inChunks(fresh(counted))) {
        signal?.throwIfAborted()
        yield await this.#readFreeLocks(masters, keys)
      }
    } catch (error) {
      if (!signal?.aborted) this.#drop()
      throw error
    }
  }

  async *#scanEndless({ signal }: { signal?: AbortSignal }) {
    try {
      for (const server of (await this.#open()).all) {
        const cli = redisCli(server.endpoint)
        for await (const keys of findEndless(server, signal)) yield { keys, cli }
      }
    } catch (error) {
      if (!signal?.aborted) this.#drop()
      throw error
    }
  }

  async reread(keys: readonly string[]): Promise<readonly LockRow[]> {
    return this.#asking(async (masters) => {
      const rows: LockRow[] = []
      for (const some of inChunks(keys)) rows.push(...(await this.#readRows(masters, some)))
      return rows
    })
  }

  async inspect(
    key: string,
    { findWaiters = false }: { readonly findWaiters?: boolean } = {},
  ): Promise<LockDetail | null> {
    return this.#asking(async (masters) => {
      // Throws if the server of this key cannot be reached, because the lock may exist there.
      masters.at(key)
      const views = (await viewsOf(masters, [key])).map(([detail]) => detail ?? null)
      const bare = merged(masters, views)
      if (bare === null) return null
      const isUnlisted = bare.kind === 'lock' && bare.waiting > bare.queue.length
      if (findWaiters && isUnlisted) await this.#findClients(masters)
      const [detail] = await this.#named(masters, [bare])
      return { ...(detail as LockDetail), votes: masters.isQuorum ? votesOf(views) : null }
    })
  }

  release(key: string, seen: SeenHolder, by?: string): Promise<Forced> {
    return this.#asking(async (masters) => {
      const forced = await forceRelease(masters, key, seen)
      if (forced.outcome === 'released') await noteRelease(masters, key, seen, by)
      return forced
    })
  }

  async close(): Promise<void> {
    this.#drop()
  }

  async #asking<T>(work: (masters: Masters) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work(await this.#open())
    } catch (error) {
      // The server may no longer be a master, so the next request opens new connections.
      this.#drop()
      throw error
    } finally {
      this.#tookMs += performance.now() - startedAt
    }
  }

  async #open(): Promise<Masters> {
    this.#masters ??= openMasters(this.#where, this.#timeoutMs)
    const opening = this.#masters
    try {
      const masters = await opening
      if (this.#masters === opening) this.#opened = masters
      else masters.disconnect()
      masters.refresh()
      return masters
    } catch (error) {
      if (this.#masters === opening) this.#drop()
      throw error
    }
  }

  #drop(): void {
    this.#costBefore = plus(this.#costBefore, costOf(this.#opened))
    this.#opened = undefined
    void this.#masters?.then(
      (masters) => masters.disconnect(),
      () => undefined,
    )
    this.#masters = undefined
  }

  async #readRows(masters: Masters, keys: readonly string[]): Promise<LockRow[]> {
    const views = await viewsOf(masters, keys)
    const bare = keys.flatMap((_, i) => {
      const own = views.map((view) => view[i] ?? null)
      return merged(masters, own) ?? []
    })
    return (await this.#named(masters, bare)).map(rowIn)
  }

  async #readFreeLocks(masters: Masters, keys: readonly string[]): Promise<LockRow[]> {
    const [server] = masters.all
    if (masters.isCluster || masters.isQuorum || server === undefined) {
      return this.#readRows(masters, keys)
    }
    const { free, others } = await readFreeLocks(server, keys)
    return [...free, ...(others.length > 0 ? await this.#readRows(masters, others) : [])]
  }

  async #named(masters: Masters, bare: readonly BareDetail[]): Promise<LockDetail[]> {
    const owners = bare.flatMap(({ holders, queue }) => [...holders, ...queue])
    const clients = owners.map(({ owner }) => clientOf(owner)).filter((one) => one.length === 21)
    await this.#clients.lookUp(masters, clients)
    return bare.map((one) => withProcesses(one, this.#clients))
  }

  async #findClients(masters: Masters): Promise<void> {
    const signal = AbortSignal.timeout(SEARCH_MS)
    try {
      for (const server of masters.all) {
        for await (const clients of findClients(server, signal)) {
          await this.#clients.lookUp(masters, clients)
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

type Spent = Pick<Cost, 'commands' | 'bytes'>
const NOTHING: Spent = { commands: 0, bytes: 0 }
const plus = (a: Spent, b: Spent): Spent => ({
  commands: a.commands + b.commands,
  bytes: a.bytes + b.bytes,
})
const costOf = (masters: Masters | undefined): Spent =>
  (masters?.all ?? []).reduce((sum, { cost }) => plus(sum, cost), NOTHING)

function* inChunks<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += AT_A_TIME) yield list.slice(i, i + AT_A_TIME)
}
