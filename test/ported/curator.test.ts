import type { Holdfast, LeaderElection, Term } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import type { WatchedMemoryServer } from '../support/memory-server.ts'
import { describeWorlds } from '../support/worlds.ts'
import { twoPlaces } from './ported-kinds.ts'

/** Leads until the term ends, or until `told` resolves. */
async function leadUntilTold(term: Term, told: Promise<void>): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    if (term.signal.aborted) resolve()
    term.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([told, ended])
}

type Acquire = (client: Holdfast) => Promise<{ release(): Promise<unknown> }>

const write: Acquire = (client) => client.getReadWriteLock('it').writeLock().lock()
const fair: Acquire = (client) => client.getFairLock('it').lock()
const permit: Acquire = (client) =>
  client.getPermitExpirableSemaphore('it', { permits: 1 }).acquire()
const plainPermit: Acquire = async (client) => {
  const semaphore = client.getSemaphore('it')
  await semaphore.trySetPermits(1)
  await semaphore.acquire()
  return semaphore
}

/**
 * Kinds whose waiters have a place in Redis: the name of the kind, how a client holds it, and how a client waits for
 * it.
 */
const kindsWithPlaces: [kind: string, hold: Acquire, wait: Acquire][] = [
  ['a fair lock', fair, fair],
  ['a read lock', write, (client) => client.getReadWriteLock('it').readLock().lock()],
  ['a write lock', write, write],
  ['an upgradable lock', write, (client) => client.getReadWriteLock('it').upgradableLock().lock()],
  ['a permit with a lease', permit, permit],
  ['a permit without a lease', plainPermit, plainPermit],
]

describeWorlds(
  'the behaviour of Curator',
  (world, { inMemory = false }) => {
    // A semaphore or a latch stays until it is deleted.
    afterEach(() => world.server.flush())

    const inMemoryServer = () => (world.server as WatchedMemoryServer).memory
    const endServer = async () =>
      inMemory ? inMemoryServer().beginOutage() : await world.server.kill()
    const startServer = async () =>
      inMemory ? inMemoryServer().endOutage() : await world.server.restart()

    describe('a read-write lock', () => {
      test.each(['of the same client', 'of another client'])(
        'blocks a waiting writer while its last writer still reads, %s',
        async (whose) => {
          const client = world.newClient()
          const lock = client.getReadWriteLock('it', { owner: client.owner() })
          const writing = await lock.writeLock().lock()
          const other = whose === 'of the same client' ? client : world.newClient()
          let isIn = false
          const next = other
            .getReadWriteLock('it')
            .writeLock()
            .lock()
            .finally(() => {
              isIn = true
            })
          await eventually(async () => other.held().waiting.every(({ holder }) => holder !== null))
          const reading = await lock.readLock().lock()
          await writing.release()
          await never(() => isIn, 50)
          expect(reading.valid).toBe(true)
          await reading.release()
          await (await next).release()
        },
      )

      test('lists the same readers and waiting writers to each client', async () => {
        const readers = await Promise.all(
          Array.from({ length: 4 }, () => world.newClient()).flatMap((client) =>
            Array.from({ length: 5 }, () => client.getReadWriteLock('it').readLock().lock()),
          ),
        )
        const writers = Array.from({ length: 5 }, () => world.newClient())
        const seen = (client: Holdfast) => client.getReadWriteLock('it').inspect()
        const waits: Promise<unknown>[] = []
        for (const [i, client] of writers.entries()) {
          waits.push(
            client
              .getReadWriteLock('it')
              .writeLock()
              .using(() => {}),
          )
          await eventually(async () => (await seen(client)).waitingToWrite.length === i + 1)
        }
        for (const client of [writers[0], writers[4], world.newClient()] as Holdfast[]) {
          const { mode, holders, waitingToWrite } = await seen(client)
          expect(mode).toBe('read')
          expect(holders.map(({ owner }) => owner).sort()).toEqual(
            readers.map(({ owner }) => owner).sort(),
          )
          expect(waitingToWrite.map(({ client: id }) => id)).toEqual(writers.map(({ id }) => id))
        }
        await Promise.all(readers.map((lease) => lease.release()))
        await Promise.all(waits)
      })
    })

    // In memory there are no keys to delete.
    if (!inMemory) {
      test.each(kindsWithPlaces)(
        'a waiter for %s whose place in Redis is deleted is served, and leaves no place',
        async (_, hold, wait) => {
          const { admin } = world.server
          const places = async () =>
            (await admin.keys('*')).filter((key) => /queue|waiting|alive/.test(key))
          const held = await hold(world.newClient())
          expect(await places()).toEqual([])
          const waiting = wait(world.newClient())
          await eventually(async () => (await places()).length > 0)
          await admin.del(...(await places()))
          await held.release()
          await (await waiting).release()
          expect(await places()).toEqual([])
        },
      )
    }

    describe('an election', () => {
      const ends: (() => void)[] = []
      afterEach(() => {
        for (const end of ends.splice(0)) end()
      })

      /** Starts a candidate that leads until the term ends, or until `go()`. */
      function stand(election: LeaderElection, options = {}) {
        const told = deferred<void>()
        const terms: Term[] = []
        const led = election.lead((term) => {
          terms.push(term)
          return leadUntilTold(term, told.promise)
        }, options)
        led.catch(() => undefined)
        const go = () => told.resolve()
        ends.push(go)
        return { election, terms, led, go }
      }
      const electionOf = (client: Holdfast, label: string) =>
        client.getLeaderElection('it', { label })

      test('has one leader when its server starts later than the election', async () => {
        const client = world.newClient({ outageMs: 300 })
        const election = electionOf(client, 'a')
        client.on('error', () => undefined)
        const told: (string | null)[] = []
        await endServer()
        election.on('changed', (leader) => told.push(leader?.label ?? null))
        const candidate = stand(election, { again: true })
        await never(() => candidate.terms.length > 0, 350)
        await startServer()
        await eventually(() => candidate.terms.length === 1)
        await eventually(() => told.at(-1) === 'a')
        await never(() => candidate.terms.length > 1 || !election.isLeading, 100)
        expect(told.filter((label) => label === 'a')).toEqual(['a'])
        candidate.go()
        await candidate.led
      })

      test('has no leader when its client is closed before its server is up', async () => {
        const client = world.newClient({ outageMs: 5_000 })
        client.on('error', () => undefined)
        await endServer()
        const candidate = stand(electionOf(client, 'a'), { again: true })
        await client.close()
        await expect(candidate.led).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
        await startServer()
        const { leader, candidates } = await electionOf(world.newClient(), 'b').inspect()
        expect([leader, candidates, candidate.terms]).toEqual([null, [], []])
      })

      test('has no leader a lease after its server stops, and one leader when the server is back', async () => {
        const clients = [1, 2, 3].map(() => world.newClient({ leaseMs: 900, outageMs: 400 }))
        for (const client of clients) client.on('error', () => undefined)
        const all = clients.flatMap((client, i) =>
          ['a', 'b'].map((letter) => stand(electionOf(client, `${letter}${i}`), { again: true })),
        )
        const leaders = () => all.filter(({ election }) => election.isLeading)
        await eventually(() => leaders().length === 1)
        const [first] = leaders()
        const token = first?.terms[0]?.token as number
        await endServer()
        await eventually(() => leaders().length === 0)
        await never(() => leaders().length > 0, 100)
        await startServer()
        await eventually(() => leaders().length === 1)
        const second = leaders()[0]?.terms.at(-1)?.token as number
        expect(second).toBeGreaterThan(token)
        await never(() => leaders().length > 1, 300)
        for (const { go } of all) go()
        await Promise.all(all.map(({ led }) => led))
      })

      test('has one leader in the end, with a higher token, after its server loses all keys', async () => {
        const [one, two] = [1, 2].map(() => world.newClient({ leaseMs: 1_500 })) as [
          Holdfast,
          Holdfast,
        ]
        const a = stand(electionOf(one, 'a'))
        await eventually(() => a.terms.length === 1)
        const b = stand(electionOf(two, 'b'))
        await eventually(async () => (await b.election.inspect()).candidateCount === 1)
        await world.server.flush()
        await eventually(() => b.terms.length === 1)
        await expect(a.led).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
        expect(b.terms[0]?.token).toBeGreaterThan(a.terms[0]?.token as number)
        expect([a.election.isLeading, b.election.isLeading]).toEqual([false, true])
        b.go()
        await b.led
      })

      test('looks the same to all candidates, and a candidate that leaves the queue changes nothing else', async () => {
        const clients = [1, 2, 3].map(() => world.newClient())
        const leaving = new AbortController()
        const labels = ['a', 'b', 'c', 'd', 'e', 'f']
        const all: ReturnType<typeof stand>[] = []
        for (const [i, label] of labels.entries()) {
          const election = electionOf(clients[i % 3] as Holdfast, label)
          all.push(stand(election, label === 'd' ? { signal: leaving.signal } : {}))
          if (i === 0) await eventually(() => election.isLeading)
          else await eventually(async () => (await election.inspect()).candidateCount === i)
        }
        const seen = async () => {
          const views = await Promise.all(all.map(({ election }) => election.inspect()))
          const told = views.map(({ leader, candidates }) =>
            [leader, ...candidates].map((one) => one?.label).join(''),
          )
          return [...new Set(told)]
        }
        expect(await seen()).toEqual(['abcdef'])
        leaving.abort()
        await expect(all[3]?.led).rejects.toBe(leaving.signal.reason)
        await eventually(async () => (await all[0]?.election.inspect())?.candidateCount === 4)
        expect(await seen()).toEqual(['abcef'])
        expect(all.filter(({ terms }) => terms.length > 0)).toEqual([all[0]])
        for (const i of [0, 1, 2, 4, 5]) {
          await eventually(() => all[i]?.election.isLeading)
          expect(all.filter(({ election }) => election.isLeading)).toEqual([all[i]])
          all[i]?.go()
        }
        await Promise.allSettled(all.map(({ led }) => led))
      })

      test('lets candidates that stand again after each term lead in turn', async () => {
        const [one, two] = [world.newClient(), world.newClient()]
        const first = stand(electionOf(one, 'first'))
        await eventually(() => first.terms.length === 1)
        const order: string[] = []
        const labels = ['a', 'b', 'c', 'd', 'e']
        const roundsLeft = new Map(labels.map((label) => [label, 4]))
        const candidates = (count: number) =>
          eventually(async () => (await first.election.inspect()).candidateCount === count)
        const works = labels.map(async (label, i) => {
          const election = electionOf(i < 3 ? one : two, label)
          for (let left = 4; left > 0; left--) {
            await election.lead(async () => {
              order.push(label)
              roundsLeft.set(label, left - 1)
              // The previous leader becomes a candidate again before this term ends.
              await candidates(labels.filter((l) => l !== label && roundsLeft.get(l)).length)
            })
          }
        })
        await candidates(5)
        first.go()
        await Promise.all(works)
        const round = order.slice(0, 5)
        expect(new Set(round).size).toBe(5)
        expect(order).toEqual([...round, ...round, ...round, ...round])
      })

      test('with one candidate has the same leader again after each resignation', async () => {
        const election = electionOf(world.newClient(), 'a')
        const tokens: number[] = []
        for (let round = 0; round < 3; round++) {
          const candidate = stand(election)
          await eventually(() => candidate.terms.length === 1)
          tokens.push(candidate.terms[0]?.token as number)
          expect(await Promise.all([election.resign(), election.resign()])).toEqual([true, true])
          await candidate.led
        }
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
      })
    })

    test('a latch outlives the client that set its count, and another client opens it', async () => {
      const setter = world.newClient()
      expect(await setter.getCountDownLatch('it').trySetCount(1)).toBe(true)
      await setter.close()
      const [one, two] = [world.newClient(), world.newClient()]
      // Connects the clients, which do not know a server yet.
      for (const client of [one, two]) expect(await client.getCountDownLatch('it').count()).toBe(1)
      const tries = [one, two].map((client) =>
        client.getCountDownLatch('it').await({ waitMs: 600 }),
      )
      expect(await Promise.all(tries)).toEqual([false, false])
      const waits = [one, two].map((client) => client.getCountDownLatch('it').await())
      await eventually(async () => (await one.getCountDownLatch('it').inspect()).waiters === 2)
      expect(await world.newClient().getCountDownLatch('it').delete()).toBe(true)
      expect(await Promise.all(waits)).toEqual([true, true])
    })
  },
  twoPlaces,
)
