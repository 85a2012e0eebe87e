import { setTimeout as pause } from 'node:timers/promises'
import type { HoldfastLock, Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { catchWarnings } from '../support/warnings.ts'
import { describeLocks } from './lock-kinds.ts'

const lost = { code: 'HOLDFAST_LEASE_LOST', reason: 'expired' }
const NOT_HELD = { code: 'HOLDFAST_NOT_HELD' }

describeLocks('expired leases', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')
  const holds = () => stage.holds('it')
  const warnings = catchWarnings()

  /** A lease that has expired in the client and in Redis. */
  const outlived = async (locking: Promise<Lease>) => {
    const lease = await locking
    await eventually(() => lease.signal.aborted)
    await eventually(async () => (await holds()).length === 0)
    return lease
  }

  test('isHeld() and holdCount() count the lease that is held, and no expired lease', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    await outlived(lock.lock(100))
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([false, 0])
    const lease = await lock.lock()
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
    await lease.release()
    expect(await lock.isHeld()).toBe(false)
  })

  test('a lock object that has lost the lock does not warn that it waits for itself', async () => {
    const [mine, theirs] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
    await outlived(mine.lock(100))
    const lease = await theirs.lock()
    const waiting = mine.lock()
    await pause(700)
    await lease.release()
    await (await waiting).release()
    expect(warnings).toEqual([])
  })

  stage.testOfExclusion(
    'unlock() of a task that comes late rejects with its own loss, and does not free the next hold',
    async () => {
      const lock = newLock()
      const late = await lock.lock(1_000)
      const next = lock.lock() // It waits while the other is held, and so is another task's.
      const lease = await next
      expect(late.signal.aborted).toBe(true)
      const error = await lock.unlock().catch((one) => one)
      expect(error).toMatchObject({ ...lost, token: late.token })
      expect(error.message).toMatch(
        new RegExp(`token ${lease.token}.*still held.*unlock\\(\\) again`),
      )
      expect([lease.valid, await holds()]).toEqual([true, [1]])
      await lock.unlock()
      expect([lease.valid, await holds()]).toEqual([false, []])
      await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
    },
  )

  test('unlock() rejects with the first loss however late, if the next holder requested the lock before the loss', async () => {
    const lock = newLock()
    const late = await lock.lock(300)
    const lease = await lock.lock()
    await pause(700)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: late.token })
    expect([lease.valid, await holds()]).toEqual([true, [1]])
    await lock.unlock()
    expect(await holds()).toEqual([])
  })

  test('unlock() frees a lock that was requested after the loss, and aborts the signal of its lease', async () => {
    const lock = newLock()
    await outlived(lock.lock(400))
    const lease = await lock.lock()
    const { signal } = lease
    await lock.unlock()
    expect([lease.valid, signal.aborted, await holds()]).toEqual([false, true, []])
    expect(signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', token: lease.token })
    expect(signal.reason.message).toMatch(/ended by an unlock\(\).*another task/)
    await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
  })

  test('unlock() rejects with the last loss, however late, if no lease followed', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    const last = await outlived(lock.lock(100))
    await pause(250)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: last.token })
    await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
  })

  test('each unlock() of nested acquisitions in a run rejects with the loss, however late', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await client.run(async () => {
      await lock.lock(1_500)
      await lock.lock(1_500)
      await outlived(lock.lock(1_500))
      await pause(250)
      for (let i = 0; i < 3; i++) await expect(lock.unlock()).rejects.toMatchObject(lost)
      await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
    })
  })

  stage.testOfExclusion(
    'in one run, unlock() for an expired acquisition does not free a second acquisition that was pending with it',
    async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      await client.run(async () => {
        const [late, lease] = await Promise.all([lock.lock(300), lock.lock()])
        expect(late.signal.aborted).toBe(true)
        await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: late.token })
        expect(lease.valid).toBe(true)
        await lock.unlock()
      })
      expect(await holds()).toEqual([])
    },
  )
})
