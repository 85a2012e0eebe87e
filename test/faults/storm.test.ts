import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, HoldfastError, type HoldfastLock, type Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Witness } from '../support/witness.ts'

const rig = faultRig()

/** HOLDFAST_STORM_SEED=… repeats a storm as far as the network lets it. */
const SEED = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 32))

type Random = () => number

/** Mulberry32: small, and the same on every machine. */
function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<T>(random: Random, among: readonly T[]): T {
  return among[Math.floor(random() * among.length)] as T
}

interface Weather {
  name: string
  /** What a fault may last, in milliseconds. */
  faultMs: number
  leaseMs: number
  commandTimeoutMs: number
  outageMs: number
  /** Whether leases may be lost in it. */
  loses: boolean
}

const weathers: Weather[] = [
  {
    name: 'short faults and long leases',
    faultMs: 60,
    leaseMs: 60_000,
    commandTimeoutMs: 120,
    outageMs: 10_000,
    loses: false,
  },
  {
    name: 'faults that outlast leases',
    faultMs: 300,
    leaseMs: 250,
    commandTimeoutMs: 120,
    outageMs: 400,
    loses: true,
  },
]

/** Which lock objects there are; of a mixed name some are of the one kind and some of the other. */
const kinds = ['plain', 'fair', 'mixed'] as const

/** One random fault at a time on one client's way, until the storm is over. */
async function blow(proxy: FaultProxy, random: Random, weather: Weather, isOver: () => boolean) {
  const only = () => pick(random, ['commands', 'subscriber', undefined] as const)
  while (!isOver()) {
    await pause(random() * 25)
    const kind = Math.floor(random() * 8)
    const where = only()
    const options = where === undefined ? {} : { only: where }
    if (kind <= 1) proxy.cut(where)
    else if (kind === 2) {
      const script = pick(random, Object.keys(SHA) as (keyof typeof SHA)[])
      const action = pick(random, ['cutBefore', 'cutAfter', 'mute', 'duplicate'] as const)
      proxy.onNextRequest(SHA[script], action)
    } else if (kind === 3) proxy.refuse()
    else if (kind === 4) proxy.blackHole({ ...options, onHeal: pick(random, ['drop', 'deliver']) })
    else if (kind === 5) proxy.dropReplies(options)
    else if (kind === 6) proxy.delay(random() * 20, options)
    else if (kind === 7) proxy.blackHole({ ...options, direction: 'toClient' })
    await pause(random() * weather.faultMs)
    if (random() < 0.8) await proxy.heal()
  }
  await proxy.heal()
}

/** Acquires in one of the ways that there are; null when it did not come to that. */
async function tryAnyhow(lock: HoldfastLock, random: Random): Promise<Lease | null> {
  const way = random()
  try {
    if (way < 0.2) return await lock.tryLock()
    if (way < 0.5) return await lock.tryLock(Math.ceil(random() * 60))
    if (way < 0.7) return await lock.lock({ signal: AbortSignal.timeout(Math.ceil(random() * 60)) })
    return await lock.lock()
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'HOLDFAST_UNAVAILABLE') return null
    if (error instanceof DOMException && error.name === 'TimeoutError') return null
    throw error
  }
}

describe.each(weathers)('in a storm of $name', (weather) => {
  test.each(kinds)(
    `nobody is let in twice, and nothing is left (%s, seed ${SEED})`,
    async (kind) => {
      const witness = new Witness()
      const names = ['storm a', 'storm b']
      const witnesses = new Map(
        names.map((name) => [name, name === 'storm a' ? witness : new Witness()]),
      )
      const { leaseMs, commandTimeoutMs, outageMs } = weather
      const fleet = await Promise.all(
        [1, 2, 3].map(async (n) => {
          const proxy = await startProxy(rig.server.port)
          const client = new Holdfast({
            redis: { host: proxy.host, port: proxy.port },
            leaseMs,
            commandTimeoutMs,
            outageMs,
          })
          atEnd(() => client.close(), { beforeCheck: true })
          return { proxy, client, diary: new Diary(client), random: randomFrom(SEED + n) }
        }),
      )
      let isOver = false
      const winds = fleet.map(({ proxy, random }) => blow(proxy, random, weather, () => isOver))

      const work = async (client: Holdfast, random: Random) => {
        while (!isOver) {
          const name = pick(random, names)
          const seen = witnesses.get(name) as Witness
          const owner = random() < 0.3 ? { owner: client.owner() } : {}
          const fair = kind === 'fair' || (kind === 'mixed' && random() < 0.5)
          const lock = fair ? client.getFairLock(name, owner) : client.getLock(name, owner)
          const lease = await tryAnyhow(lock, random)
          if (lease === null) continue
          seen.enter(lease)
          await pause(random() * 4)
          if ('owner' in owner && lease.valid) {
            const again = await tryAnyhow(lock, random).catch(() => null)
            await again?.release().catch(() => undefined)
          }
          seen.leave(lease)
          await lease.release().catch((error: unknown) => {
            if (!(error instanceof HoldfastError && error.code === 'HOLDFAST_UNAVAILABLE'))
              throw error
          })
        }
      }
      const workers = fleet.flatMap(({ client, random }) =>
        [1, 2, 3, 4].map(() => work(client, randomFrom(Math.floor(random() * 2 ** 32)))),
      )
      await pause(5_000)
      isOver = true
      await Promise.all(winds)
      // A lock that leaked would keep them for the rest of its lease.
      await within(6_000, Promise.all(workers))

      for (const [name, { violations, grants }] of witnesses) {
        expect({ name, violations }).toEqual({ name, violations: [] })
        expect(grants).toBeGreaterThan(3)
      }
      // A grant that cannot be confirmed is lost sooner than any lease.
      if (!weather.loses && kind === 'plain')
        expect(fleet.flatMap(({ diary }) => diary.lost)).toEqual([])
      // What was in doubt is settled, while the clients live: no lease has to run out for it.
      await eventually(async () => (await rig.server.admin.exists(...names)) === 0, {
        timeoutMs: 4_000,
        message: 'the end of all locks',
      })
      await eventually(async () => (await rig.server.admin.keys('holdfast_*')).length === 0, {
        timeoutMs: 8_000,
        message: 'the end of all queues',
      })
      await eventually(async () => (await rig.server.admin.pubsub('CHANNELS')).length === 0, {
        message: 'the end of all subscriptions',
      })
    },
  )
})
