import type { Where } from '../servers/where.ts'
import { findEndless, findHeld, findNamed } from './find-keys.ts'
import { forceRelease } from './force-release.ts'
import { inspect } from './inspect.ts'
import { clientOf } from './key-names.ts'
import { KnownClients } from './known-clients.ts'
import type { BareRow } from './look.ts'
import { lookAtFree } from './look-at-free.ts'
import { votesOf } from './merge.ts'
import { noteRelease } from './note-release.ts'
import { addressOfAll, type Masters, openMasters } from './open-masters.ts'
import type { Cost, Deployment, Forced, LockDetail, LockRow, SeenHolder } from './rows.ts'
import { merged, viewsOf } from './views.ts'

/** So many locks are looked at together: a server does nothing else while it reads one write of a client. */
const AT_A_TIME = 100

/**
 * Looks at the locks of a deployment. It connects at the first question, and anew after a failure.
 *
 * @param timeoutMs each question to a server has so long
 */
export function openDeployment(
  where: Where,
  { timeoutMs = 5_000 }: { readonly timeoutMs?: number } = {},
): Deployment {
  return new RedisDeployment(where, timeoutMs)
}

class RedisDeployment implements Deployment {
  readonly address: string
  readonly #where: Where
  readonly #timeoutMs: number
  readonly #processes = new KnownClients()
  #masters: Promise<Masters> | undefined
  #costBefore = NOTHING
  #costNow = () => NOTHING
  #tookMs = 0

  constructor(where: Where, timeoutMs: number) {
    this.address = addressOfAll(where)
    this.#where = where
    this.#timeoutMs = timeoutMs
  }

  get cost(): Cost {
    const before = this.#costBefore
    const { commands, bytes } = this.#costNow()
    return {
      commands: before.commands + commands,
      bytes: before.bytes + bytes,
      tookMs: Math.round(this.#tookMs),
    }
  }

  async *scan({
    pattern,
    heldOnly = false,
    signal,
  }: {
    pattern?: string
    heldOnly?: boolean
    signal?: AbortSignal
  } = {}) {
    const startedAt = performance.now()
    const masters = await this.#open()
    const seen = new Set<string>()
    try {
      const fresh = (found: Iterable<string>) => {
        const some = [...new Set(found)].filter((key) => !seen.has(key))
        for (const key of some) seen.add(key)
        return some
      }
      for (const server of masters.all) {
        for await (const found of findHeld(server, { pattern, signal })) {
          for (const keys of inChunks(fresh(found))) yield await this.#look(masters, keys)
        }
      }
      const counted = new Set<string>()
      for (const server of heldOnly ? [] : masters.all) {
        for await (const found of findNamed(server, { pattern, signal })) {
          for (const key of found.counted) counted.add(key)
          for (const keys of inChunks(fresh(found.more))) yield await this.#look(masters, keys)
        }
      }
      for (const keys of inChunks(fresh(counted))) {
        signal?.throwIfAborted()
        yield await this.#lookAtFree(masters, keys)
      }
    } catch (error) {
      if (!signal?.aborted) this.#drop()
      throw error
    } finally {
      this.#tookMs += performance.now() - startedAt
    }
  }

  async *scanEndless({ signal }: { signal?: AbortSignal } = {}) {
    const startedAt = performance.now()
    try {
      for (const server of (await this.#open()).all) yield* findEndless(server, signal)
    } catch (error) {
      if (!signal?.aborted) this.#drop()
      throw error
    } finally {
      this.#tookMs += performance.now() - startedAt
    }
  }

  async look(keys: readonly string[]): Promise<readonly LockRow[]> {
    return this.#asking(async (masters) => {
      const rows: LockRow[] = []
      for (const some of inChunks(keys)) rows.push(...(await this.#look(masters, some)))
      return rows
    })
  }

  async inspect(key: string): Promise<LockDetail | null> {
    return this.#asking(async (masters) => {
      const views = await viewsOf(masters, [key])
      const rows = views.map(([row]) => row ?? null)
      const row = merged(masters, rows)
      if (row === null) return null
      const details = await Promise.all(
        views.map(([found], i) => {
          const server = masters.isQuorum ? masters.all[i] : masters.at(key)
          return found && server ? inspect(server, found) : undefined
        }),
      )
      const [detail] = details.filter((one) => one !== undefined)
      if (detail === undefined) return null
      const holders = row.kind === 'permits' ? detail.permits : row.holders
      const [named] = await this.#named(masters, [{ ...row, holders }], detail.queue)
      const queue = detail.queue.map((one) => ({
        ...one,
        process: this.#processes.of(clientOf(one.owner)),
      }))
      const votes = masters.isQuorum ? { votes: votesOf(rows) } : {}
      return { ...(named as LockRow), queue, more: { ...detail.more, ...votes } }
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
      // What is open may lead to a server that is none of them any more.
      this.#drop()
      throw error
    } finally {
      this.#tookMs += performance.now() - startedAt
    }
  }

  #open(): Promise<Masters> {
    if (this.#masters === undefined) {
      const opening = openMasters(this.#where, this.#timeoutMs)
      this.#masters = opening
      opening.then(
        ({ all }) => {
          this.#costNow = () => all.reduce((sum, { cost }) => plus(sum, cost), NOTHING)
        },
        () => this.#drop(),
      )
    }
    return this.#masters
  }

  #drop(): void {
    this.#costBefore = plus(this.#costBefore, this.#costNow())
    this.#costNow = () => NOTHING
    void this.#masters?.then(
      (masters) => masters.close(),
      () => undefined,
    )
    this.#masters = undefined
  }

  async #look(masters: Masters, keys: readonly string[]): Promise<LockRow[]> {
    const views = await viewsOf(masters, keys)
    const rows = keys.map((_, i) =>
      merged(
        masters,
        views.map((view) => view[i] ?? null),
      ),
    )
    return this.#named(
      masters,
      rows.filter((row) => row !== null),
    )
  }

  async #lookAtFree(masters: Masters, keys: readonly string[]): Promise<LockRow[]> {
    const [server] = masters.all
    if (masters.isCluster || masters.isQuorum || server === undefined) {
      return this.#look(masters, keys)
    }
    const { free, others } = await lookAtFree(server, keys)
    const looked = others.length > 0 ? await this.#look(masters, others) : []
    return [...free.map((row) => ({ ...row, holders: [] })), ...looked]
  }

  async #named(
    masters: Masters,
    rows: readonly BareRow[],
    queue: readonly { readonly owner: string }[] = [],
  ): Promise<LockRow[]> {
    const owners = [...rows.flatMap(({ holders }) => holders), ...queue]
    const ours = owners.map(({ owner }) => clientOf(owner)).filter((one) => one.length === 21)
    await this.#processes.ask(masters, ours)
    return rows.map((row) => ({
      ...row,
      holders: row.holders.map((one) => ({
        ...one,
        process: this.#processes.of(clientOf(one.owner)),
      })),
    }))
  }
}

type Spent = Pick<Cost, 'commands' | 'bytes'>
const NOTHING: Spent = { commands: 0, bytes: 0 }
const plus = (a: Spent, b: Spent): Spent => ({
  commands: a.commands + b.commands,
  bytes: a.bytes + b.bytes,
})

function* inChunks<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += AT_A_TIME) yield list.slice(i, i + AT_A_TIME)
}
