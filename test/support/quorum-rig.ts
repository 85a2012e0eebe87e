import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { letVote, startMasters } from './masters.ts'
import type { RedisServer, StartOptions } from './redis-server.ts'

type Options = Omit<HoldfastOptions, 'redis' | 'masters'>

/** With these options, a call to a master that does not answer lasts longer than any time limit of a test. */
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

  /** @param votes true if the masters vote at once, as if they had been up for longer than the longest lease */
  static async start(count: number, votes = true, options?: StartOptions): Promise<Cluster> {
    const masters = await startMasters(count, options)
    if (votes) await Promise.all(masters.map((master) => letVote(master)))
    return new Cluster(masters)
  }

  /** @param urls the addresses of the masters for this client, if they differ from the real addresses */
  client(options: Options = {}, urls: readonly string[] = this.#urls): Holdfast {
    const quick = { leaseMs: 10_000, longestLeaseMs: 60_000, commandTimeoutMs: 300 }
    const client = new Holdfast({ masters: urls, ...quick, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    atEnd(() => Promise.all(this.masters.map((master) => master.revive())).then(() => {}), {
      beforeCheck: true,
    })
    return client
  }

  /** Returns the owner of the lock at each master: '' if the lock is free there, null if the master is not up. */
  holders(name: string): Promise<(string | null)[]> {
    return Promise.all(
      this.masters.map(async ({ admin, running, paused }) =>
        running && !paused ? ((await admin.hkeys(name))[0] ?? '') : null,
      ),
    )
  }

  /** Waits until `owner` has the lock at every master that is up. */
  async heldEverywhere(name: string, owner: string): Promise<void> {
    await eventually(
      async () => (await this.holders(name)).every((one) => one === null || one === owner),
      { message: `all masters to have ${owner}`, timeoutMs: 10_000 },
    )
  }

  /** Waits until the lock is free at every master that is up. */
  async free(name: string): Promise<void> {
    await eventually(async () => (await this.holders(name)).every((one) => !one), {
      message: 'all masters to be free',
    })
  }

  counters(name: string): Promise<(string | null)[]> {
    return Promise.all(this.masters.map(({ admin }) => admin.get(lockKeys(name).counter)))
  }
}
