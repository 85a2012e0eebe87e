import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { letVote, startMasters } from './masters.ts'
import type { RedisServer, StartOptions } from './redis-server.ts'

type Options = Omit<HoldfastOptions, 'redis' | 'masters'>

/** With these options, a call to a silent master lasts longer than any limit of a test. */
export const LONG_CALLS = {
  leaseMs: 3_000_000,
  longestLeaseMs: 3_000_000,
  commandTimeoutMs: 300_000,
}

/** Masters for one test, and clients of them. */
export class Cluster {
  readonly masters: RedisServer[]
  readonly #urls: string[]

  private constructor(masters: RedisServer[]) {
    this.masters = masters
    this.#urls = masters.map(({ url }) => url)
  }

  /** @param votes whether they vote at once, as if they had done so for long */
  static async start(count: number, votes = true, options?: StartOptions): Promise<Cluster> {
    const masters = await startMasters(count, options)
    if (votes) await Promise.all(masters.map((master) => letVote(master)))
    return new Cluster(masters)
  }

  /** @param urls where it finds the masters, if not where they are */
  client(options: Options = {}, urls: readonly string[] = this.#urls): Holdfast {
    const quick = { leaseMs: 10_000, longestLeaseMs: 60_000, commandTimeoutMs: 300 }
    const client = new Holdfast({ masters: urls, ...quick, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    atEnd(() => Promise.all(this.masters.map((master) => master.revive())).then(() => {}), {
      beforeCheck: true,
    })
    return client
  }

  /** For each master, who has the lock there; '' for nobody, null for a master that is not up. */
  holders(name: string): Promise<(string | null)[]> {
    return Promise.all(
      this.masters.map(async ({ admin, running, paused }) =>
        running && !paused ? ((await admin.hkeys(name))[0] ?? '') : null,
      ),
    )
  }

  /** Waits until every master that is up has the lock in that name. */
  async heldEverywhere(name: string, owner: string): Promise<void> {
    await eventually(
      async () => (await this.holders(name)).every((one) => one === null || one === owner),
      { message: `all masters to have ${owner}`, timeoutMs: 10_000 },
    )
  }

  /** Waits until no master that is up has the lock. */
  async free(name: string): Promise<void> {
    await eventually(async () => (await this.holders(name)).every((one) => !one), {
      message: 'all masters to be free',
    })
  }

  counters(name: string): Promise<(string | null)[]> {
    return Promise.all(this.masters.map(({ admin }) => admin.get(lockKeys(name).counter)))
  }
}
