import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, HoldfastError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, within } from '../support/fault-rig.ts'
import { blow, pick, type Random, randomFrom, SEED, tryAnyhow, weathers } from '../support/gale.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { Witness } from '../support/witness.ts'

const rig = faultRig()

/** The kinds of lock objects. A mixed name has both kinds. */
const kinds = ['plain', 'fair', 'mixed'] as const

describe.each(weathers)('a storm of $name', (weather) => {
  test.each(kinds)(
    `has one holder at a time, and leaves no key (%s, seed ${SEED})`,
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
      await eventually(() => [...witnesses.values()].every(({ grants }) => grants > 3))
      isOver = true
      await Promise.all(winds)
      // A lock that leaked would keep them for the rest of its lease.
      await within(6_000, Promise.all(workers))

      for (const [name, { violations }] of witnesses) {
        expect({ name, violations }).toEqual({ name, violations: [] })
      }
      // A grant that cannot be confirmed is lost sooner than any lease.
      if (!weather.loses && kind === 'plain')
        expect(fleet.flatMap(({ diary }) => diary.lost)).toEqual([])
      // Locks in doubt are settled while the clients live, so no lease has to end first.
      await eventually(async () => (await rig.server.admin.exists(...names)) === 0, {
        timeoutMs: 4_000,
        message: 'the end of all locks',
      })
      await eventually(
        async () => (await lastingKeys(rig.server.admin, 'holdfast_*')).length === 0,
        {
          timeoutMs: 8_000,
          message: 'the end of all queues',
        },
      )
      await eventually(async () => (await rig.server.admin.pubsub('CHANNELS')).length === 0, {
        message: 'the end of all subscriptions',
      })
    },
  )
})
