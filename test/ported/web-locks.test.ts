import { setTimeout as pause } from 'node:timers/promises'
import { type Holdfast, InvalidArgumentError, LeaseLostError } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeWorlds } from '../support/worlds.ts'
import { exclusiveKinds, twoPlaces } from './ported-kinds.ts'

describeWorlds(
  'the behaviour of Web Locks',
  (world) => {
    // A semaphore stays until it is deleted.
    afterEach(() => world.server.flush())

    describe.each(exclusiveKinds)('using() of %s', (_, open) => {
      test('resolves with the value, the promise or the thenable that the work returns', async () => {
        const lock = open(world.newClient(), 'it')
        const other = open(world.newClient(), 'it')
        expect(await lock.using(() => 123)).toBe(123)
        expect(await lock.using(async () => 456)).toBe(456)
        const settle = deferred<string>()
        // biome-ignore lint/suspicious/noThenProperty: That is the point.
        const thenable = { then: settle.promise.then.bind(settle.promise) }
        const begun = deferred<void>()
        const gives = lock.using(() => {
          begun.resolve()
          return thenable
        })
        await begun.promise
        expect(await other.tryAcquire()).toBeNull()
        settle.resolve('done')
        expect(await gives).toBe('done')
        await (await other.tryAcquire())?.release()
      })

      test('leaves no lock behind: when the call has settled, another client acquires the lock at once', async () => {
        const lock = open(world.newClient(), 'it')
        const other = open(world.newClient(), 'it')
        for (const work of [async () => 'well', () => Promise.reject(new Error('badly'))]) {
          await lock.using(work).catch(() => undefined)
          const next = await other.tryAcquire()
          expect(next).not.toBeNull()
          await next?.release()
        }
      })

      test('rejects with exactly the value that the work throws', async () => {
        const lock = open(world.newClient(), 'it')
        const then = jest.fn()
        const values = [{ name: 'test' }, 123, '', null, undefined, false, Symbol('it'), { then }]
        for (const value of values) {
          const throwing = () => {
            throw value
          }
          for (const work of [throwing, async () => throwing()]) {
            const outcome = await lock.using(work).then(
              () => ['gave a value'],
              (error) => [error === value],
            )
            expect({ value: String(value), outcome }).toEqual({
              value: String(value),
              outcome: [true],
            })
          }
        }
        expect(then).not.toHaveBeenCalled()
      })
    })

    describe.each(exclusiveKinds)('the signal of a call for %s', (_, open) => {
      test('is refused if it is no AbortSignal', async () => {
        const lock = open(world.newClient(), 'it')
        const work = jest.fn()
        for (const signal of ['', 12.34, false, {}, Symbol('it'), () => {}, globalThis, null]) {
          const options = { signal } as never
          for (const call of [
            () => lock.using(work, options),
            () => lock.acquire(options),
            () => lock.tryAcquire(options),
          ]) {
            await expect(call()).rejects.toBeInstanceOf(InvalidArgumentError)
          }
        }
        expect(work).not.toHaveBeenCalled()
      })

      test('rejects the call with exactly its reason, before the call and while it waits', async () => {
        const lock = open(world.newClient(), 'it')
        const held = await open(world.newClient(), 'it').acquire()
        const work = jest.fn()
        for (const reason of ['my dog ate it', undefined, 0, null, false, '']) {
          for (const waits of [false, true]) {
            const abort = new AbortController()
            const { signal } = abort
            if (!waits) abort.abort(reason)
            const calls = [
              lock.using(work, { signal }),
              lock.acquire({ signal }),
              lock.tryAcquire({ waitMs: 20_000, signal }),
            ].map((call) =>
              call.then(
                () => 'gave a value',
                (error) => error === signal.reason,
              ),
            )
            if (waits) {
              await pause(1)
              abort.abort(reason)
            }
            const outcome = await Promise.all(calls)
            expect({ reason, waits, outcome }).toEqual({
              reason,
              waits,
              outcome: [true, true, true],
            })
            if (reason === undefined) expect(signal.reason).toMatchObject({ name: 'AbortError' })
          }
        }
        expect(work).not.toHaveBeenCalled()
        await held.release()
        await (await lock.tryAcquire())?.release()
      })
    })

    test('the signal of lead(), whenFree() and await() rejects them with exactly its reason', async () => {
      const client = world.newClient()
      const held = await world.newClient().getFairLock('it').lock()
      const latch = client.getCountDownLatch('latch')
      await latch.trySetCount(1)
      for (const reason of ['my dog ate it', undefined, 0, null]) {
        const abort = new AbortController()
        const { signal } = abort
        const calls = [
          client.getLeaderElection('it').lead(() => 'led', { signal }),
          client.getLock('it').whenFree({ signal }),
          latch.await({ signal }),
        ].map((call) =>
          call.then(
            () => 'gave a value',
            (error) => error === signal.reason,
          ),
        )
        await pause(1)
        abort.abort(reason)
        expect({ reason, outcome: await Promise.all(calls) }).toEqual({
          reason,
          outcome: [true, true, true],
        })
      }
      await Promise.all([held.release(), latch.delete()])
    })

    describe('readers and writers', () => {
      test('a call for another name is granted while a call of the same client waits', async () => {
        const client = world.newClient()
        const granted: string[] = []
        const lock = client.getReadWriteLock('a')
        const release = deferred<void>()
        const readers = [1, 2, 3].map(() =>
          lock.readLock().using(() => {
            granted.push('reads')
            return release.promise
          }),
        )
        const writer = lock.writeLock().using(() => void granted.push('writes'))
        await client
          .getReadWriteLock('b')
          .writeLock()
          .using(() => void granted.push('writes b'))
        await eventually(() => granted.length === 4)
        expect([...granted].sort()).toEqual(['reads', 'reads', 'reads', 'writes b'])
        release.resolve()
        await Promise.all([...readers, writer])
        expect(granted.at(-1)).toBe('writes')
      })

      test.each(['of one client', 'of a client each'])(
        'a writer is served after earlier readers and before later readers, %s',
        async (whoseCalls) => {
          const shared = world.newClient()
          const lockOf = () =>
            (whoseCalls === 'of one client' ? shared : world.newClient()).getReadWriteLock('it')
          const seer = world.newClient().getReadWriteLock('it')
          const modes = async () => {
            const { mode, holders } = await seer.inspect()
            return `${holders.length} ${mode}`
          }
          const [first, second, third] = [deferred<void>(), deferred<void>(), deferred<void>()]
          const reading = (until: Promise<void>) =>
            Promise.all(
              [1, 2, 3, 4, 5].map(() =>
                lockOf()
                  .readLock()
                  .using(() => until),
              ),
            )
          const before = reading(first.promise)
          await eventually(async () => (await modes()) === '5 read')
          const writer = lockOf()
            .writeLock()
            .using(() => second.promise)
          await eventually(async () => (await seer.inspect()).waitingToWrite.length === 1)
          const after = reading(third.promise)
          await never(async () => (await modes()) !== '5 read', 30)
          first.resolve()
          await before
          await eventually(async () => (await modes()) === '1 write')
          await never(async () => (await modes()) !== '1 write', 30)
          second.resolve()
          await writer
          await eventually(async () => (await modes()) === '5 read')
          third.resolve()
          await after
        },
      )
    })

    describe('the view of a client', () => {
      test('held() lists each hold and each waiting call, with its kind', async () => {
        const client = world.newClient()
        const lock = client.getReadWriteLock('it')
        const done = deferred<void>()
        const writing = lock.writeLock().using(() => done.promise)
        await eventually(() => client.held().held.length === 1)
        const reading = [1, 2].map(() => lock.readLock().using(() => {}))
        await eventually(() => client.held().waiting.every(({ holder }) => holder !== null))
        const { held, waiting } = client.held()
        expect(held).toMatchObject([{ name: 'it', kind: 'write' }])
        expect(waiting).toMatchObject([
          { name: 'it', kind: 'read' },
          { name: 'it', kind: 'read' },
        ])
        for (const { owner } of held) expect(owner?.startsWith(`${client.id}:`)).toBe(true)
        done.resolve()
        await Promise.all([writing, ...reading])
        expect(client.held()).toEqual({ held: [], waiting: [] })
      })

      test('held() shows a deadlock: each client waits for what the other one holds', async () => {
        const [one, two] = [world.newClient(), world.newClient()]
        const leases = await Promise.all([one.getLock('a').lock(), two.getLock('b').lock()])
        const abort = new AbortController()
        const waits = [
          one.getLock('b').lock({ signal: abort.signal }),
          two.getLock('a').lock({ signal: abort.signal }),
        ]
        for (const wait of waits) wait.catch(() => undefined)
        const waitsFor = (client: Holdfast) => client.held().waiting[0]?.holder?.split(':')[0]
        await eventually(() => waitsFor(one) === two.id && waitsFor(two) === one.id)
        for (const [client, name] of [
          [one, 'b'],
          [two, 'a'],
        ] as const) {
          const { holder, text } = await client.getLock(name).why()
          expect(holder).toBe(client.held().waiting[0]?.holder)
          expect(text).toContain(`Lock "${name}" is held by `)
        }
        abort.abort()
        await Promise.allSettled(waits)
        await Promise.all(leases.map((lease) => lease.release()))
      })

      test('`inspect()` lists the waiters of a fair lock in the order of their calls', async () => {
        const clients = [1, 2, 3].map(() => world.newClient())
        const [a, b, c] = clients as [Holdfast, Holdfast, Holdfast]
        const holder = await world.newClient().getFairLock('it').lock()
        const queue = async () =>
          (await a.getFairLock('it').inspect()).queue.map(
            ({ owner }) => clients.findIndex(({ id }) => owner.startsWith(`${id}:`)) + 1,
          )
        const ends = new Map<Holdfast, (() => void)[]>(clients.map((client) => [client, []]))
        const asks = async (...order: Holdfast[]) => {
          for (const client of order) {
            const { length } = await queue()
            const done = deferred<void>()
            ends.get(client)?.push(() => done.resolve())
            works.push(client.getFairLock('it').using(() => done.promise))
            await eventually(async () => (await queue()).length === length + 1)
          }
        }
        const works: Promise<unknown>[] = []
        await asks(a, b, c)
        expect(await queue()).toEqual([1, 2, 3])
        await asks(c, a, b)
        expect(await queue()).toEqual([1, 2, 3, 3, 1, 2])
        await holder.release()
        for (const client of [a, b]) ends.get(client)?.shift()?.()
        await eventually(async () => (await queue()).length === 3)
        expect(await queue()).toEqual([3, 1, 2])
        for (const end of [...ends.values()].flat()) end()
        await Promise.all(works)
      })
    })

    describe('a lock that is unlocked by force', () => {
      test('is lost by each holder, one after the other, and the last holder keeps it', async () => {
        const clients = [1, 2, 3].map(() => world.newClient({ leaseMs: 900 }))
        const reasons: unknown[] = []
        const works: Promise<unknown>[] = []
        const tokens: number[] = []
        for (const client of clients) {
          const lock = client.getLock('it')
          await lock.forceUnlock()
          const begun = deferred<void>()
          works.push(
            lock
              .using(async (lease) => {
                tokens.push(lease.token)
                begun.resolve()
                if (client === clients[2]) return
                await new Promise<void>((resolve) =>
                  lease.signal.addEventListener('abort', () => resolve(), { once: true }),
                )
              })
              .catch((error) => reasons.push(error)),
          )
          await begun.promise
        }
        await Promise.all(works)
        expect(reasons).toEqual([expect.any(LeaseLostError), expect.any(LeaseLostError)])
        expect(tokens).toEqual([...tokens].sort((x, y) => x - y))
      })
    })
  },
  twoPlaces,
)
