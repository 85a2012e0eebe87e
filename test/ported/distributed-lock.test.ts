import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeWorlds } from '../support/worlds.ts'
import { exclusiveKinds, twoPlaces } from './ported-kinds.ts'

const LONG = 'a'.repeat(1_000)

/** Names that all differ, although some look alike. */
const NAMES = [
  '\0🐉汉字\b\r\n\\',
  'abc\0def',
  'abc\0dEf',
  'abc',
  '\uffff',
  '-',
  '-foo',
  'x-anything',
  'it_a',
  'it_A',
  ' it_a',
  'it_a ',
  'caf\u00e9',
  'cafe\u0301',
  'i',
  'ı',
  'I',
  'İ',
  '\\\\\\\\\\',
  LONG,
  `${LONG.slice(1)}A`,
]

describeWorlds(
  'the behaviour of DistributedLock',
  (world) => {
    // A semaphore stays until it is deleted.
    afterEach(() => world.server.flush())

    describe.each(exclusiveKinds)('%s', (_, open) => {
      test('treats names as different if one character differs', async () => {
        const [client, other] = [world.newClient(), world.newClient()]
        const held = await Promise.all(NAMES.map((name) => open(client, name).acquire()))
        const tries = await Promise.all(NAMES.map((name) => open(other, name).tryAcquire()))
        expect(tries.map((one) => one === null)).toEqual(NAMES.map(() => true))
        await Promise.all(held.map((one) => one.release()))
      })

      test('with a key prefix is the lock whose name is the prefix plus the name', async () => {
        const [prefixed, plain] = [world.newClient({ keyPrefix: 'P' }), world.newClient()]
        const held = await open(prefixed, 'N').acquire()
        expect(await open(plain, 'PN').tryAcquire()).toBeNull()
        await (await open(plain, 'N').tryAcquire())?.release()
        const next = open(plain, 'PN').acquire()
        await eventually(() => plain.held().waiting.every(({ waitedMs }) => waitedMs > 5))
        await held.release()
        const got = await next
        expect(await open(prefixed, 'N').tryAcquire()).toBeNull()
        await got.release()
      })
    })

    // The contract suites check this for the other kinds.
    test.each(exclusiveKinds.slice(3))(
      '%s has one holder at a time among sixty tasks, each with its own object',
      async (_, open) => {
        const clients = Array.from({ length: 3 }, () => world.newClient())
        let inside = 0
        const seen: number[] = []
        await Promise.all(
          Array.from({ length: 60 }, (_, i) =>
            open(clients[i % 3] as Holdfast, 'it').using(async () => {
              inside += 1
              await pause(0)
              seen.push(inside)
              inside -= 1
            }),
          ),
        )
        expect(seen).toEqual(Array.from({ length: 60 }, () => 1))
      },
    )

    const semaphores = [
      [
        'with leases',
        (client: Holdfast, permits: number, name = 'it') => {
          const semaphore = client.getPermitExpirableSemaphore(name, { permits })
          return { semaphore, acquire: () => semaphore.acquire() }
        },
      ],
      [
        'without leases',
        (client: Holdfast, permits: number, name = 'it') => {
          const semaphore = client.getSemaphore(name)
          const set = semaphore.trySetPermits(permits)
          const held = { release: () => semaphore.release() }
          const acquire = async () => {
            await set
            await semaphore.acquire()
            return held
          }
          return { semaphore, acquire }
        },
      ],
    ] as const

    describe.each(semaphores)('a semaphore %s', (_, open) => {
      test.each([
        [3, 10, 10],
        [10, 10, 5],
      ])(
        'with %i permits has up to that many permits in use, and never more',
        async (permits, workers, rounds) => {
          let inside = 0
          let most = 0
          const full = deferred<void>()
          const work = async (client: Holdfast) => {
            const { acquire } = open(client, permits)
            for (let round = 0; round < rounds; round++) {
              const permit = await acquire()
              inside += 1
              most = Math.max(most, inside)
              // No worker continues before all permits have been in use at once.
              if (inside === permits) full.resolve()
              await full.promise
              await pause(1)
              inside -= 1
              await permit.release()
            }
          }
          await Promise.all(Array.from({ length: workers }, () => work(world.newClient())))
          expect(most).toBe(permits)
          expect(await open(world.newClient(), permits).semaphore.availablePermits()).toBe(permits)
        },
      )

      test('has up to 2,147,483,647 permits, even under a long name', async () => {
        const most = 2 ** 31 - 1
        const { semaphore, acquire } = open(world.newClient(), most, `s${'o'.repeat(1_000)} many!`)
        const permits = await Promise.all(Array.from({ length: 100 }, () => acquire()))
        expect(await semaphore.availablePermits()).toBe(most - 100)
        for (const permit of permits) await permit.release()
        expect(await semaphore.availablePermits()).toBe(most)
      })
    })

    test('the signal of an upgradable lease does not abort at an upgrade, but at a loss after it', async () => {
      const client = world.newClient({ leaseMs: 1_500 })
      const upgradable = await client.getReadWriteLock('it').upgradableLock().lock()
      const { signal } = upgradable
      const writing = await upgradable.upgrade()
      await never(() => signal.aborted || writing.signal.aborted, 50)
      await world.server.flush()
      await eventually(() => signal.aborted && writing.signal.aborted)
      expect(signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
      expect([await writing.release(), await upgradable.release()]).toEqual([false, false])
    })
  },
  twoPlaces,
)
