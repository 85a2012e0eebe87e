import { Holdfast } from '../../../src/index.ts'
import { viewOf } from '../../kinds/all.ts'
import { clientOf } from '../../servers/redis-of.ts'
import type { Where } from '../../servers/where.ts'
import type {
  Cost,
  Forced,
  Inspection,
  ListOptions,
  LockDetail,
  LockRow,
  ReleaseReason,
  SeenHolder,
} from '../inspection.ts'
import { labelOf, requestRelease } from '../request-release.ts'
import { rowOf } from '../row-of.ts'
import { findClients, findEndless, findHeld, findNamed } from './find-keys.ts'
import { forceRelease } from './force-release.ts'
import { KnownClients } from './known-clients.ts'
import type { Masters } from './masters.ts'
import { noteRelease } from './note-release.ts'
import { addressOfAll, openMasters } from './open-masters.ts'
import { readFreeLocks } from './read-free-locks.ts'
import { readLocks } from './read-locks.ts'
import { timed } from './timed.ts'

/**
 * How many locks one batch of requests reads at most. During a batch, a server may serve no other
 * client.
 */
const AT_A_TIME = 100

/**
 * Returns an inspection of the locks in Redis. The inspection connects at the first request, and
 * connects again after a failure.
 *
 * @param timeoutMs the time limit of each request to a server, in milliseconds
 */
export function openInspection(
  where: Where,
  { timeoutMs = 5_000 }: { readonly timeoutMs?: number } = {},
): Inspection {
  return new RedisInspection(where, timeoutMs)
}

class RedisInspection implements Inspection {
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

  /** False for several masters, because at least one reachable master has each lock. */
  get isIncomplete() {
    return this.#where.kind === 'cluster' && this.unreachable.length > 0
  }

  list(options: ListOptions = {}) {
    return this.#found((masters) => this.#list(masters, options), options.signal)
  }

  listEndless({ signal }: Pick<ListOptions, 'signal'> = {}) {
    return this.#found(({ all }) => findEndless(all, signal), signal)
  }

  read(keys: readonly string[]): Promise<readonly LockRow[]> {
    return this.#request(async (masters) => {
      const rows: LockRow[] = []
      for (const some of inChunks(keys)) rows.push(...(await this.#readRows(masters, some)))
      return rows
    })
  }

  inspect(
    key: string,
    { findWaiters = false }: { readonly findWaiters?: boolean } = {},
  ): Promise<LockDetail | null> {
    return this.#request(async (masters) => {
      // Throws if the server of this key is unreachable, because the lock may exist there.
      masters.at(key)
      const [found] = await readLocks(masters, [key], true)
      if (!found) return null
      const isUnlisted = viewOf(found.kind).hidesWaiters && found.waiting > found.queue.length
      if (findWaiters && isUnlisted) {
        await this.#clients.lookUpAll(masters, (signal) => findClients(masters.all, signal))
      }
      const [detail] = await this.#clients.complete(masters, [found])
      return detail ?? null
    })
  }

  forceRelease(key: string, seen: SeenHolder, by?: string): Promise<Forced> {
    return this.#request(async (masters) => {
      const forced = await forceRelease(masters, key, seen)
      if (forced.outcome === 'released') await noteRelease(masters, key, seen, by)
      return forced
    })
  }

  requestRelease(key: string, owners: readonly string[], reason: ReleaseReason) {
    const client = new Holdfast({
      ...clientOf(this.#where),
      label: labelOf(reason),
      presence: false,
      commandTimeoutMs: this.#timeoutMs,
      outageMs: 2 * this.#timeoutMs,
    })
    return requestRelease(client, key, owners, reason)
  }

  async close(): Promise<void> {
    this.#drop()
  }

  async *#list(masters: Masters, { pattern, heldOnly = false, signal }: ListOptions) {
    const wanted = { ...(pattern !== undefined && { pattern }), ...(signal && { signal }) }
    const seen = new Set<string>()
    const fresh = (found: Iterable<string>) => {
      const some = [...new Set(found)].filter((key) => !seen.has(key))
      for (const key of some) seen.add(key)
      return some
    }
    const counted = new Set<string>()
    for (const server of heldOnly ? [] : masters.all) {
      for await (const found of findNamed(server, wanted)) {
        for (const key of found.counted) counted.add(key)
        await this.#clients.lookUp(masters, found.clients)
        for (const keys of inChunks(fresh(found.more))) yield await this.#readRows(masters, keys)
      }
    }
    // Reads held locks after the search above, because the search finds the reports of clients.
    // Only these reports name the waiters of plain locks.
    for (const server of masters.all) {
      for await (const found of findHeld(server, wanted)) {
        for (const keys of inChunks(fresh(found))) yield await this.#readRows(masters, keys)
      }
    }
    for (const keys of inChunks(fresh(counted))) {
      signal?.throwIfAborted()
      yield await this.#readFreeLocks(masters, keys)
    }
  }

  /** Yields the values of `find`, and adds the time for each value to the cost. */
  #found<T>(find: (masters: Masters) => AsyncGenerator<T>, signal: AbortSignal | undefined) {
    const steps = async function* (this: RedisInspection) {
      try {
        yield* find(await this.#open())
      } catch (error) {
        if (!signal?.aborted) this.#drop()
        throw error
      }
    }
    return timed(steps.call(this), this.#addMs)
  }

  async #request<T>(work: (masters: Masters) => Promise<T>): Promise<T> {
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
    const found = await readLocks(masters, keys)
    const details = await this.#clients.complete(
      masters,
      found.filter((one) => one !== null),
    )
    return details.map(rowOf)
  }

  async #readFreeLocks(masters: Masters, keys: readonly string[]): Promise<LockRow[]> {
    const [server] = masters.all
    if (masters.isCluster || masters.isQuorum || server === undefined) {
      return this.#readRows(masters, keys)
    }
    const { free, others } = await readFreeLocks(server, keys)
    return [...free, ...(others.length > 0 ? await this.#readRows(masters, others) : [])]
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
