import { ClosedError, type HoldfastLock, type Lease } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { takes } from '../support/takes.ts'
import { describeLocks } from './lock-kinds.ts'

/** Much longer than delays of a busy machine, and much shorter than any lease or interval between checks here. */
const SOON_MS = 1_500

describeLocks(
  'whenFree() and onFree()',
  (stage) => {
    const channels = async () => {
      const sharded = (await stage.world.server.admin.pubsub('SHARDCHANNELS')) as string[]
      return [...(await stage.channels()), ...sharded]
    }
    const listening = () =>
      eventually(async () => (await channels()).length > 0, { message: 'a listener' })
    const nobodyListens = () =>
      eventually(async () => (await channels()).length === 0, {
        message: 'the last subscription to end',
      })

    describe('whenFree()', () => {
      test('whenFree() resolves at once if the lock is free, and acquires nothing', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        expect(await lock.whenFree()).toBe(true)
        expect(await lock.isLocked()).toBe(false)
        expect(client.held()).toEqual({ held: [], waiting: [] })
        expect(await channels()).toEqual([])
      })

      test('whenFree() resolves for every waiter when the holder releases the lock, and leaves no subscription', async () => {
        const [one, two, three] = stage.getLocks('it', 3) as [
          HoldfastLock,
          HoldfastLock,
          HoldfastLock,
        ]
        const lease = await one.lock()
        let settled = 0
        const waits = [two.whenFree(), two.whenFree({ waitMs: 20_000 }), three.whenFree()]
        for (const wait of waits) {
          void wait.then(() => {
            settled += 1
          })
        }
        await listening()
        await never(() => settled > 0, 50)
        await lease.release()
        expect(await takes({ atMost: SOON_MS }, Promise.all(waits))).toEqual([true, true, true])
        expect(await one.isLocked()).toBe(false)
        await nobodyListens()
      })

      test.each<[string, number, (lock: HoldfastLock, lease: Lease) => Promise<boolean>]>([
        ['in the client of the holder, at a release', 0, (_, lease) => lease.release()],
        ['when forceUnlock() frees the lock', 1, (lock) => lock.forceUnlock()],
      ])('whenFree() resolves %s', async (_, waiting, free) => {
        const locks = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await locks[0].lock()
        const wait = (locks[waiting] as HoldfastLock).whenFree()
        await listening()
        expect(await free(locks[0], lease)).toBe(true)
        expect(await takes({ atMost: SOON_MS }, wait)).toBe(true)
      })

      test('whenFree() resolves at the end of the lease if no release comes', async () => {
        const lock = stage.getLock(stage.world.newClient(), 'it')
        await stage.putHold('it', 1, 400)
        expect(await takes({ atMost: 400 + SOON_MS }, lock.whenFree())).toBe(true)
        expect(await lock.isLocked()).toBe(false)
      })

      test('whenFree() returns false at the end of waitMs, and listens no longer', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        expect(await two.isLocked()).toBe(true) // connects the client
        const wait = () => two.whenFree({ waitMs: 400 })
        expect(await takes({ atLeast: 390, atMost: 400 + SOON_MS }, wait)).toBe(false)
        await nobodyListens()
        await lease.release()
      })

      test('whenFree() rejects with the reason of an abort, and listens no longer', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        const reason = new Error('not wanted any more')
        const abort = new AbortController()
        const outcome = two.whenFree({ signal: abort.signal }).catch((error) => error)
        await listening()
        abort.abort(reason)
        expect(await outcome).toBe(reason)
        await expect(two.whenFree({ signal: abort.signal })).rejects.toBe(reason)
        await nobodyListens()
        await lease.release()
      })

      test('whenFree() rejects when the client is closed', async () => {
        const [one, two] = [stage.world.newClient(), stage.world.newClient()]
        const lease = await stage.getLock(one, 'it').lock()
        const lock = stage.getLock(two, 'it')
        const outcome = lock.whenFree().catch((error) => error)
        await listening()
        await two.close()
        expect(await outcome).toBeInstanceOf(ClosedError)
        await expect(lock.whenFree()).rejects.toBeInstanceOf(ClosedError)
        await lease.release()
      })
    })

    describe('onFree()', () => {
      test('onFree() calls its listener each time that the lock becomes free, until it is stopped', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        let calls = 0
        const first = await one.lock()
        const stop = two.onFree(() => {
          calls += 1
        })
        await listening()
        expect(calls).toBe(0)
        await first.release()
        await eventually(() => calls > 0, { timeoutMs: SOON_MS })
        const second = await one.lock()
        // A release may be reported twice: by its message, and by a check that was under way.
        await never(() => calls > 2, 30)
        const told = calls
        await second.release()
        await eventually(() => calls > told, { timeoutMs: SOON_MS })
        stop()
        stop()
        await nobodyListens()
        const before = calls
        await (await one.lock()).release()
        await never(() => calls !== before, 30)
      })

      test('onFree() calls its listener at the end of the next hold, not for a lock that is free already', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        let calls = 0
        const stop = two.onFree(() => {
          calls += 1
        })
        await listening()
        await never(() => calls > 0, 30)
        const lease = await one.lock()
        const wait = two.whenFree() // checks the lock and finds it held
        await never(() => calls > 0, 30)
        await lease.release()
        expect(await wait).toBe(true)
        await eventually(() => calls > 0, { timeoutMs: SOON_MS })
        stop()
      })

      test('onFree() ends with its client, without an error event', async () => {
        const client = stage.world.newClient()
        const errors: Error[] = []
        client.on('error', (error) => errors.push(error))
        const other = stage.getLock(stage.world.newClient(), 'it')
        const lease = await other.lock()
        let calls = 0
        stage.getLock(client, 'it').onFree(() => {
          calls += 1
        })
        await listening()
        await client.close()
        await lease.release()
        await never(() => calls > 0, 20)
        expect(errors.filter((error) => error instanceof ClosedError)).toEqual([])
        expect(() => stage.getLock(client, 'it').onFree(() => {})).toThrow(ClosedError)
      })
    })
  },
  { isOfExclusion: true },
)
