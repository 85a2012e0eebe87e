import { setTimeout as pause } from 'node:timers/promises'
import type { HoldfastLock, Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { catchWarnings } from '../support/warnings.ts'
import { describeLocks } from './lock-kinds.ts'

const lost = { code: 'HOLDFAST_LEASE_LOST', reason: 'expired' }
const NOT_HELD = { code: 'HOLDFAST_NOT_HELD' }

describeLocks('leases that ran out', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')
  const holds = () => stage.holds('it')
  const warnings = catchWarnings()

  /** A lease that has run out for everybody. */
  const outlived = async (locking: Promise<Lease>) => {
    const lease = await locking
    await eventually(() => lease.signal.aborted)
    await eventually(async () => (await holds()).length === 0)
    return lease
  }

  test('isHeld() and holdCount() look at the one that is held', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    await outlived(lock.lock(100))
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([false, 0])
    const lease = await lock.lock()
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
    await lease.release()
    expect(await lock.isHeld()).toBe(false)
  })

  test('the self-wait warning is not for those whose object has lost the lock', async () => {
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
    'unlock() tells a task that comes late of its own loss, and frees no lock of another',
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

  test('so it does however late, where the one who has it asked while the other was held', async () => {
    const lock = newLock()
    const late = await lock.lock(300)
    const lease = await lock.lock()
    await pause(700)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: late.token })
    expect([lease.valid, await holds()]).toEqual([true, [1]])
    await lock.unlock()
    expect(await holds()).toEqual([])
  })

  test('unlock() frees what was asked for after the loss, and tells whoever else may rely on it', async () => {
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

  test('unlock() tells of the last one however late, where nobody has the lock since', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    const last = await outlived(lock.lock(100))
    await pause(250)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: last.token })
    await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
  })

  test('nested code in a run hears of each of its acquisitions, however late', async () => {
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
    'of two that were pending in one run, the late one does not free what the other has',
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
