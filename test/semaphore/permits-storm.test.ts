import { setTimeout as pause } from 'node:timers/promises'
import {
  Holdfast,
  HoldfastError,
  type Permit,
  type PermitExpirableSemaphore,
} from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import {
  causeFaults,
  faultProfiles,
  type Random,
  randomFrom,
  SEED,
} from '../support/random-faults.ts'
import * as scripts from '../support/scripts.ts'
import { allAreBack, of, withPermits } from './permits.ts'

const rig = faultRig()
const PERMITS = 4

/** With HOLDFAST_STORM_MS=…, the storm lasts this many milliseconds. */
const STORM_MS = Number(process.env.HOLDFAST_STORM_MS ?? 1_500)

const SCRIPTS = [scripts.acquirePermits, scripts.releasePermits, scripts.renewPermits].map(
  ({ sha1 }) => sha1,
)

const isOutage = (error: unknown) =>
  error instanceof HoldfastError && error.code === 'HOLDFAST_UNAVAILABLE'

/** Acquires permits with a random kind of call. Returns null if the call did not acquire permits. */
async function tryAnyhow(
  semaphore: PermitExpirableSemaphore,
  random: Random,
): Promise<Permit | null> {
  const way = random()
  const permits = 1 + Math.floor(random() * PERMITS)
  const soon = Math.ceil(random() * 60)
  try {
    if (way < 0.2) return await semaphore.tryAcquire({ permits })
    if (way < 0.5) return await semaphore.tryAcquire({ permits, waitMs: soon })
    const signal = way < 0.7 ? { signal: AbortSignal.timeout(soon) } : {}
    return await semaphore.acquire({ permits, ...signal })
  } catch (error) {
    if (isOutage(error)) return null
    if (error instanceof DOMException && error.name === 'TimeoutError') return null
    throw error
  }
}

describe.each(faultProfiles)('in a storm of $name', (profile) => {
  test(`the permits held never exceed the number, and all are returned (seed ${SEED})`, async () => {
    const { leaseMs, commandTimeoutMs, outageMs } = profile
    await withPermits(rig.witness(), PERMITS)
    const fleet = await Promise.all(
      [1, 2, 3].map(async (n) => {
        const proxy = await startProxy(rig.server.port)
        const redis = { host: proxy.host, port: proxy.port }
        const client = new Holdfast({ redis, leaseMs, commandTimeoutMs, outageMs })
        atEnd(() => client.close(), { beforeCheck: true })
        return { proxy, client, random: randomFrom(SEED + n) }
      }),
    )
    let isOver = false
    const faults = fleet.map(({ proxy, random }) =>
      causeFaults(proxy, random, profile, () => isOver, SCRIPTS),
    )
    const inside = new Set<Permit>()
    const tokens = new Set<number>()
    const violations: string[] = []
    const grants = new Map(fleet.map(({ client }) => [client, 0]))

    const work = async (client: Holdfast, random: Random) => {
      while (!isOver) {
        const permit = await tryAnyhow(of(client), random)
        if (permit === null) continue
        grants.set(client, (grants.get(client) ?? 0) + 1)
        if (tokens.has(permit.token)) violations.push(`${permit.token} was issued twice`)
        tokens.add(permit.token)
        inside.add(permit)
        const had = [...inside].filter(({ valid }) => valid)
        const sum = had.reduce((all, { permits }) => all + permits, 0)
        if (sum > PERMITS) violations.push(`${sum} were had at once`)
        await pause(random() * 4)
        inside.delete(permit)
        await permit.release().catch((error: unknown) => {
          if (!isOutage(error)) throw error
        })
      }
    }
    const workers = fleet.flatMap(({ client, random }) =>
      [1, 2, 3, 4].map(() => work(client, randomFrom(Math.floor(random() * 2 ** 32)))),
    )
    await pause(STORM_MS)
    // Few grants would show little. On a busy machine, the storm lasts longer.
    await eventually(() => [...grants.values()].every((count) => count >= 3), {
      message: 'three grants for each client',
    })
    isOver = true
    await Promise.all(faults)
    await within(8_000, Promise.all(workers))
    expect(violations).toEqual([])
    // While the clients live, they release all permits that they may have acquired. So no lease has to end first.
    await allAreBack(rig.server, PERMITS)
  })
})
