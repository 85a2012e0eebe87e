import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, HoldfastError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import {
  causeFaults,
  faultProfiles,
  pick,
  type Random,
  randomFrom,
  SEED,
  tryAnyhow,
} from '../support/random-faults.ts'
import { Witness } from '../support/witness.ts'

const rig = faultRig()

/** The kinds of lock objects. A lock with the kind `mixed` has both. */
const kinds = ['plain', 'fair', 'mixed'] as const

describe.each(faultProfiles)('a storm of $name', (profile) => {
  test.each(kinds)(
    `has one holder at a time, and leaves no key (%s, seed ${SEED})`,
    async (kind) => {
      const witness = new Witness()
      const names = ['storm a', 'storm b']
      const witnesses = new Map(
        names.map((name) => [name, name === 'storm a' ? witness : new Witness()]),
      )
      const { leaseMs, commandTimeoutMs, outageMs } = profile
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
      const faults = fleet.map(({ proxy, random }) =>
        causeFaults(proxy, random, profile, () => isOver),
      )

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
      await Promise.all(faults)
      // If a lock were left behind, the workers would wait until its lease ends.
      await within(6_000, Promise.all(workers))

      for (const [name, { violations }] of witnesses) {
        expect({ name, violations }).toEqual({ name, violations: [] })
      }
      // A grant without a confirmation ends before any lease does.
      if (!profile.loses && kind === 'plain')
        expect(fleet.flatMap(({ diary }) => diary.lost)).toEqual([])
      // While the clients live, they release all locks that they may have acquired. So no lease has to end first.
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
