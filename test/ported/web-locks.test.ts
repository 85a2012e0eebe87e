import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, InvalidArgumentError, LeaseLostError } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeWorlds } from '../support/worlds.ts'
import { exclusiveKinds, twoPlaces } from './kinds.ts'

describeWorlds(
  'as with Web Locks,',
  (world) => {
    // A semaphore stays until somebody deletes it.
    afterEach(() => world.server.flush())

    describe.each(exclusiveKinds)('work under %s', (_, open) => {
      test('gives what it returns: a value, a promise or a thenable', async () => {
        const door = open(world.newClient(), 'it')
        const other = open(world.newClient(), 'it')
        expect(await door.using(() => 123)).toBe(123)
        expect(await door.using(async () => 456)).toBe(456)
        const settle = deferred<string>()
        const thenable = { then: settle.promise.then.bind(settle.promise) }
        const begun = deferred<void>()
        const gives = door.using(() => {
          begun.resolve()
          return thenable
        })
        await begun.promise
        expect(await other.tryEnter()).toBeNull()
        settle.resolve('done')
        expect(await gives).toBe('done')
        await (await other.tryEnter())?.release()
      })

      test('is over when the call settles: others have the lock at once', async () => {
        const door = open(world.newClient(), 'it')
        const other = open(world.newClient(), 'it')
        for (const work of [async () => 'well', () => Promise.reject(new Error('badly'))]) {
          await door.using(work).catch(() => undefined)
          const next = await other.tryEnter()
          expect(next).not.toBeNull()
          await next?.release()
        }
      })

      test('rejects with the very value that it throws, whatever that is', async () => {
        const door = open(world.newClient(), 'it')
        const then = jest.fn()
        const values = [{ name: 'test' }, 123, '', null, undefined, false, Symbol('it'), { then }]
        for (const value of values) {
          const throwing = () => {
            throw value
          }
          for (const work of [throwing, async () => throwing()]) {
            const outcome = await door.using(work).then(
              () => ['gave a value'],
              (error) => [error === value],
            )
            expect({ value: String(value), outcome }).toEqual({ value: String(value), outcome: [true] })
          }
        }
        expect(then).not.toHaveBeenCalled()
      })
    })

    describe.each(exclusiveKinds)('the signal of a call for %s', (_, open) => {
      test('must be an AbortSignal', async () => {
        const door = open(world.newClient(), 'it')
        const work = jest.fn()
        for (const signal of ['', 12.34, false, {}, Symbol('it'), () => {}, globalThis, null]) {
          const options = { signal } as never
          for (const call of [
            () => door.using(work, options),
            () => door.enter(options),
            () => door.tryEnter(options),
          ]) {
            await expect(call()).rejects.toBeInstanceOf(InvalidArgumentError)
          }
        }
        expect(work).not.toHaveBeenCalled()
      })

      test('ends it with its very reason, whatever that is, before it and while it waits', async () => {
        const door = open(world.newClient(), 'it')
        const held = await open(world.newClient(), 'it').enter()
        const work = jest.fn()
        for (const reason of ['my dog ate it', undefined, 0, null, false, '']) {
          for (const waits of [false, true]) {
            const abort = new AbortController()
            const { signal } = abort
            if (!waits) abort.abort(reason)
            const calls = [
              door.using(work, { signal }),
              door.enter({ signal }),
              door.tryEnter({ waitMs: 20_000, signal }),
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
            expect({ reason, waits, outcome }).toEqual({ reason, waits, outcome: [true, true, true] })
            if (reason === undefined) expect(signal.reason).toMatchObject({ name: 'AbortError' })
          }
        }
        expect(work).not.toHaveBeenCalled()
        await held.release()
        await (await door.tryEnter())?.release()
      })
    })

    test('the signal of other calls ends them with its very reason, whatever that is', async () => {
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

    describe('modes', () => {
      test('a call for another name is granted while one of its client waits', async () => {
        const client = world.newClient()
        const granted: string[] = []
        const lock = client.getReadWriteLock('a')
        const release = deferred<void>()
        const readers = [1, 2, 3].map((n) =>
          lock.readLock().using(() => {
            granted.push(`reads ${n}`)
            return release.promise
          }),
        )
        const writer = lock.writeLock().using(() => void granted.push('writes'))
        await client
          .getReadWriteLock('b')
          .writeLock()
          .using(() => void granted.push('writes b'))
        await eventually(() => granted.length === 4)
        expect(granted.filter((one) => one.startsWith('reads'))).toEqual(
          [1, 2, 3].map((n) => `reads ${n}`),
        )
        release.resolve()
        await Promise.all([...readers, writer])
        expect(granted.at(-1)).toBe('writes')
      })

      test.each(['of one client', 'of a client each'])(
        'one who writes goes between those who read before and after it, %s',
        async (whose) => {
          const shared = world.newClient()
          const lockOf = () =>
            (whose === 'of one client' ? shared : world.newClient()).getReadWriteLock('it')
          const seer = world.newClient().getReadWriteLock('it')
          const modes = async () => {
            const { mode, holders } = await seer.inspect()
            return `${holders.length} ${mode}`
          }
          const [first, second, third] = [deferred<void>(), deferred<void>(), deferred<void>()]
          const reading = (until: Promise<void>) =>
            Promise.all([1, 2, 3, 4, 5].map(() => lockOf().readLock().using(() => until)))
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

    describe('what can be seen', () => {
      test('each call is listed by itself, held or waiting, with its kind and its client', async () => {
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

      test('a deadlock of two clients shows: each waits for what the other holds', async () => {
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

      test('calls that wait in turn are listed in the order in which they were made', async () => {
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

    describe('a lock that is taken by force', () => {
      test('is lost for each that had it, one after the other, and the last one has it', async () => {
        const clients = [1, 2, 3].map(() => world.newClient({ leaseMs: 300 }))
        const reasons: unknown[] = []
        const works: Promise<unknown>[] = []
        const tokens: number[] = []
        for (const client of clients) {
          const lock = client.getLock('it')
          await lock.forceUnlock()
          const begun = deferred<void>()
          works.push(
            lock
              .using((lease) => {
                tokens.push(lease.token)
                begun.resolve()
                if (client === clients[2]) return 'has it'
                return new Promise<void>((resolve) =>
                  lease.signal.addEventListener('abort', () => resolve(), { once: true }),
                )
              })
              .catch((error) => reasons.push(error)),
          )
          await begun.promise
        }
        expect(await works[2]).toBe('has it')
        await Promise.all(works)
        expect(reasons).toEqual([expect.any(LeaseLostError), expect.any(LeaseLostError)])
        expect(tokens).toEqual([...tokens].sort((x, y) => x - y))
      })
    })
  },
  twoPlaces,
)
