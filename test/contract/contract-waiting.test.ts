import { setTimeout as pause } from 'node:timers/promises'
import { type HoldfastLock, type Lease, WaitTimeoutError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { takes } from '../support/takes.ts'
import { describeLocks } from './lock-kinds.ts'

/** Much longer than delays of a busy machine, and much shorter than any lease in these tests. */
const SOON_MS = 1_500

describeLocks(
  'the wait for the release',
  (stage) => {
    const waiters = async (lock: HoldfastLock, count: number) => {
      await eventually(async () => (await stage.waiters(lock)) === count, {
        message: `${count} clients to listen`,
      })
    }
    const nobodyListens = () =>
      eventually(async () => (await stage.channels()).length === 0, {
        message: 'the last subscription to end',
      })

    describe('a waiter', () => {
      test.each<[string, (lock: HoldfastLock, lease: Lease) => Promise<boolean>]>([
        ['a release', (_, lease) => lease.release()],
        ['forceUnlock()', (lock) => lock.forceUnlock()],
      ])('%s wakes a waiter long before the lease of the holder would end', async (_, free) => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock(30_000)
        const waiting = two.lock()
        await waiters(one, 1)
        expect(await free(one, lease)).toBe(true)
        const next = await takes({ atMost: SOON_MS }, waiting)
        await next.release()
      })

      test('a waiter acquires the lock at the end of the lease when no release comes', async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        const lease = await takes({ atLeast: 350, atMost: 400 + SOON_MS }, async () => {
          // The server counts 400 ms on its wall clock, which may be adjusted meanwhile.
          await stage.putHold('it', 1, 400)
          return lock.lock()
        })
        await lease.release()
      })

      test('a waiter acquires the lock when a lease of its own client expires', async () => {
        const client = stage.world.newClient()
        const lost = await stage.getLock(client, 'it').lock(200)
        const lease = await stage.getLock(client, 'it').lock()
        expect(lost.valid).toBe(false)
        expect(lease.token).toBeGreaterThan(lost.token)
        await lease.release()
      })

      test('a waiter acquires the lock after tryLock() calls of the same client gave up', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        const waiting = two.lock()
        await waiters(one, 1)
        expect(await two.tryLock()).toBeNull()
        expect(await two.tryLock(500)).toBeNull()
        await lease.release()
        const next = await waiting
        expect(await stage.fields('it')).toEqual({ [next.owner]: 1 })
        await next.release()
      })

      test('many waiters of four clients acquire the lock one after another, with rising tokens', async () => {
        const locks = stage.getLocks('it', 4)
        const tokens: number[] = []
        const works = locks.flatMap((lock) =>
          Array.from({ length: 10 }, () =>
            lock.using((lease) => {
              tokens.push(lease.token)
            }),
          ),
        )
        await Promise.all(works)
        expect(tokens).toHaveLength(40)
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
      })
    })

    describe('tryLock()', () => {
      test('tryLock() without waitMs does not wait', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        expect(await two.isLocked()).toBe(false) // connects the client
        const lease = await one.lock()
        for (const attempt of [two.tryLock(), one.tryLock(), two.tryLock({ leaseMs: 500 })]) {
          expect(await attempt).toBeNull()
        }
        // A call that waits would subscribe to a channel.
        expect(await stage.channels()).toEqual([])
        await lease.release()
        const got = await two.tryLock()
        expect(got).not.toBeNull()
        await got?.release()
      })

      test('tryLock() with waitMs returns null when the time is up, not much earlier or later', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        expect(await two.isLocked()).toBe(false) // connects the client
        const lease = await one.lock()
        const attempts = [two, one].flatMap((lock) => [
          () => lock.tryLock(600),
          () => lock.tryLock({ waitMs: 600 }),
        ])
        // A waiter leaves the queue before the end of `waitMs`, so that the call settles in time.
        const limits = { atLeast: 300, atMost: 600 + SOON_MS }
        const outcomes = attempts.map((attempt) => takes(limits, attempt))
        expect(await Promise.all(outcomes)).toEqual([null, null, null, null])
        await nobodyListens()
        await lease.release()
      })

      test('tryLock() with waitMs returns a lease when the lock becomes free in that time', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        const attempt = two.tryLock(10_000, 20_000)
        await waiters(one, 1)
        await lease.release()
        const got = await attempt
        expect(got?.valid).toBe(true)
        // The client confirms a grant from the queue while the owner already works.
        await eventually(async () => (await stage.pttl('it')) > 15_000)
        expect(await stage.pttl('it')).toBeLessThanOrEqual(20_000)
        await got?.release()
      })

      test('a tryLock() that gave up does not acquire the lock afterwards', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        const outcomes = await Promise.all([two.tryLock(1_000), one.tryLock(1_000)])
        expect(outcomes).toEqual([null, null])
        await lease.release()
        await never(() => one.isLocked(), 50)
      })

      test('tryLock() waits although waitMs is longer than a timer can count', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        let settled = false
        const attempt = two.tryLock(2 ** 31 + 5).finally(() => {
          settled = true
        })
        await waiters(one, 1)
        await never(() => settled, 50)
        await lease.release()
        await (await attempt)?.release()
      })
    })

    describe('an abort', () => {
      const reason = new Error('not wanted any more')
      const forms: [string, (lock: HoldfastLock, signal: AbortSignal) => Promise<unknown>][] = [
        ['lock', (lock, signal) => lock.lock({ signal })],
        ['tryLock', (lock, signal) => lock.tryLock({ waitMs: 10_000, signal })],
        ['using', (lock, signal) => lock.using(() => 'ran', { signal })],
      ]

      test.each(forms)(
        '%s() with an aborted signal rejects with the reason of the abort, and sends no request',
        async (_, form) => {
          const lock = stage.getLock(stage.world.newClient({ presence: false }), 'it')
          await (await lock.lock()).release()
          await eventually(async () => !(await lock.isLocked()))
          const before = await stage.settledRequests()
          await expect(form(lock, AbortSignal.abort(reason))).rejects.toBe(reason)
          await never(async () => (await stage.requests()) !== before, 50, { everyMs: 25 })
        },
      )

      test.each(forms)(
        '%s() rejects with the reason when its signal aborts the wait, and leaves no subscription',
        async (_, form) => {
          const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
          const lease = await one.lock()
          for (const lock of [two, one]) {
            const abort = new AbortController()
            const outcome = form(lock, abort.signal).catch((error) => error)
            if (lock === two) await waiters(one, 1)
            abort.abort(reason)
            expect(await takes({ atMost: SOON_MS }, outcome)).toBe(reason)
          }
          await nobodyListens()
          await lease.release()
          await eventually(async () => !(await one.isLocked()))
        },
      )

      test('an abort at any moment of an acquisition leaves either a lease or no hold', async () => {
        const client = stage.world.newClient()
        for (let round = 0; round < 40; round++) {
          const lock = stage.getLock(client, `race ${round % 5}`)
          const abort = new AbortController()
          const outcome = lock.lock({ signal: abort.signal }).catch((error) => error)
          if (round % 4 === 1) await Promise.resolve()
          if (round % 4 === 2) await new Promise((resolve) => setImmediate(resolve))
          if (round % 4 === 3) await pause(1)
          abort.abort(reason)
          const result = await outcome
          if (result !== reason) await result.release()
          await eventually(async () => (await stage.holds(`race ${round % 5}`)).length === 0)
        }
      })

      test('a waiter that is aborted at the moment of its hand-off passes the lock to the next waiter', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        for (let round = 0; round < 20; round++) {
          const lease = await lock.lock()
          const abort = new AbortController()
          const first = lock.lock({ signal: abort.signal }).catch((error) => error)
          const second = lock.lock()
          await pause(round % 3)
          const releasing = lease.release()
          if (round % 2 === 0) await Promise.resolve()
          abort.abort(reason)
          const result = await first
          if (result !== reason) await result.release()
          const last = await second
          expect(await stage.fields('it')).toEqual({ [last.owner]: 1 })
          await Promise.all([releasing, last.release()])
        }
      })

      test('an abort after the acquisition has no effect', async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        const abort = new AbortController()
        const lease = await lock.lock({ signal: abort.signal })
        abort.abort(reason)
        await never(() => !lease.valid || lease.signal.aborted, 30)
        expect(await stage.holds('it')).toEqual([1])
        await lease.release()
      })

      test('using() leaves no listener on a signal that is used again', async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        const { signal } = new AbortController()
        const added = jest.spyOn(signal, 'addEventListener')
        const removed = jest.spyOn(signal, 'removeEventListener')
        for (let round = 0; round < 3; round++) await lock.using(() => {}, { signal })
        expect(added).toHaveBeenCalledTimes(3)
        expect(removed).toHaveBeenCalledTimes(3)
      })
    })

    describe('subscriptions', () => {
      test('subscriptions exist only while clients wait, and several waiters of a client share a subscription', async () => {
        const [holder, ...others] = stage.getLocks('it', 3) as HoldfastLock[]
        const lease = await holder?.lock()
        expect(await stage.channels()).toEqual([])
        const waiting = others.flatMap((lock) => [lock.tryLock(10_000), lock.lock(), lock.lock()])
        await waiters(holder as HoldfastLock, 2)
        // A lock has one channel. A fair lock has an inbox for each client, and later also a channel of the lock.
        await eventually(async () => {
          const channels = await stage.channels()
          const inboxes = channels.filter((name) => /inbox/.test(name))
          return stage.fair ? inboxes.length === 2 : channels.length === 1
        })
        await lease?.release()
        for (const each of waiting) void each.then((next) => next?.release())
        await Promise.all(waiting)
        await nobodyListens()
      })

      test('a wait that its wait event aborts leaves no subscription', async () => {
        const [holder, other] = [stage.world.newClient(), stage.world.newClient()]
        const lease = await stage.getLock(holder, 'it').lock()
        const abort = new AbortController()
        other.on('wait', () => abort.abort(new Error('no longer wanted')))
        const waiting = stage.getLock(other, 'it').lock({ signal: abort.signal })
        await expect(waiting).rejects.toThrow('no longer wanted')
        await nobodyListens()
        await lease.release()
      })

      test('a free lock needs no subscription', async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        for (let round = 0; round < 3; round++) {
          expect(await lock.using(() => stage.channels())).toEqual([])
        }
        expect(await stage.channels()).toEqual([])
      })

      // The waiters of a fair lock listen, even if the holder is in the same client.
      const handOff = async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        const seen = await Promise.all([1, 2, 3, 4].map(() => lock.using(() => stage.channels())))
        expect([...seen, await stage.channels()]).toEqual([[], [], [], [], []])
      }
      if (!stage.fair) test('a hand-off inside the client needs no subscription', handOff)
    })
  },
  { isOfExclusion: true },
)

describeLocks(
  'the longest wait',
  (stage) => {
    const timeout = { code: 'HOLDFAST_WAIT_TIMEOUT', lockName: 'it' }

    test('lock() and using() with waitMs reject with WaitTimeoutError when the time is up, and the error names the holder', async () => {
      const [holder, other] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const lease = await holder.lock()
      // Connects the client, which does not know its server yet.
      expect(await other.tryLock()).toBeNull()
      const work = jest.fn()
      const waits = [other.lock({ waitMs: 500 }), other.using(work, { waitMs: 500 })]
      for (const error of await Promise.all(waits.map((wait) => wait?.catch((one) => one)))) {
        expect(error).toBeInstanceOf(WaitTimeoutError)
        expect(error).toMatchObject(timeout)
        expect(error.waitedMs).toBeGreaterThan(400)
        expect(error.message).toMatch(/^Lock "it" was not acquired within 500 ms .*It is held by /)
      }
      expect(work).not.toHaveBeenCalled()
      await lease.release()
      expect(await other.using(() => 'ran', { waitMs: 5_000 })).toBe('ran')
    })

    test('tryUsing() returns null, or the value of `otherwise`, while another client holds the lock', async () => {
      const [holder, other] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const BUSY = Symbol('busy')
      const work = jest.fn(() => null)
      const lease = await holder.lock()
      const come: symbol | null = await other.tryUsing(work, { otherwise: BUSY })
      expect(come).toBe(BUSY)
      const never = jest.fn()
      expect(await other.tryUsing(work, { waitMs: 20, otherwise: never })).toBe(never)
      expect(await other.tryUsing(work, { otherwise: undefined })).toBeUndefined()
      expect(await other.tryUsing(work, Object.create({ otherwise: BUSY }))).toBe(BUSY)
      expect(await other.tryUsing(work, {})).toBeNull()
      expect([work, never].flatMap(({ mock }) => mock.calls)).toEqual([])
      await lease.release()
      expect(await other.tryUsing(work, { otherwise: BUSY })).toBeNull()
      expect(work).toHaveBeenCalledTimes(1)
      const tryLock = other.tryLock({ otherwise: 1 } as object)
      await expect(tryLock).rejects.toThrow(/no option `otherwise`/)
    })

    test('the timeout error names the holder when the same client holds the lock', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const { owner } = await lock.lock()
      const waiting = lock.lock({ waitMs: 20 })
      await expect(waiting).rejects.toThrow(`It is held by this client itself, as ${owner}, for `)
    })

    test('the waitMs of a client applies to lock() and using() without waitMs, and to no other call', async () => {
      const holder = stage.getLock(stage.world.newClient(), 'it')
      const other = stage.getLock(stage.world.newClient({ waitMs: 250 }), 'it')
      const lease = await holder.lock()
      expect(await other.tryLock()).toBeNull()
      await expect(other.lock()).rejects.toMatchObject(timeout)
      await expect(other.lock({ leaseMs: 5_000 })).rejects.toMatchObject(timeout)
      await expect(other.using(() => {})).rejects.toMatchObject(timeout)
      expect(await other.tryLock()).toBeNull()
      expect(await other.tryUsing(() => {}, { waitMs: 250 })).toBeNull()
      const waiting = other.lock({ waitMs: Infinity })
      const served = jest.fn()
      void waiting.then(served)
      await never(() => served.mock.calls.length > 0, 80)
      await lease.release()
      await (await waiting).release()
    })
  },
  { isOfExclusion: true, inOneWorld: true },
)
