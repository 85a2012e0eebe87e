import { RacingWaiter } from '../../src/local/racing-waiter.ts'
import { eventually } from '../support/eventually.ts'
import { outcome } from '../support/fault-rig.ts'
import { releaseSemaphore } from '../support/scripts.ts'
import { semaphoreOf, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

describe('close()', () => {
  test.each(['pass', 'cutBefore', 'cutAfter'] as const)(
    'lets a release arrive that is under way, when its request meets `%s`',
    async (action) => {
      const client = rig.client({ commandTimeoutMs: 5_000 })
      const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
      await theirs.trySetPermits(1)
      await semaphore.acquire()
      rig.proxy.onNextRequest(releaseSemaphore.sha1, action)
      const released = outcome(semaphore.release())
      await client.close()
      expect((await released).error).toBeUndefined()
      expect(await theirs.availablePermits()).toBe(1)
    },
  )

  test('lets what using() gives back arrive that is under way', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    const trap = rig.proxy.onNextRequest(releaseSemaphore.sha1, 'cutBefore')
    const used = semaphore.using(() => 'done')
    await trap.seen
    await client.close()
    expect(await used).toBe('done')
    expect(await theirs.availablePermits()).toBe(1)
    expect(errors.filter((error) => 'code' in error && error.code === 'HOLDFAST_CLOSED')).toEqual(
      [],
    )
  })

  test('says of a release that it cannot confirm that nothing is tried on', async () => {
    const client = rig.client()
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    await semaphore.acquire()
    rig.proxy.blackHole({ onHeal: 'drop' })
    const released = outcome(semaphore.release())
    await client.close()
    const { error } = await released
    expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
    expect(String(error)).toMatch(/possibly released, but Redis did not confirm it: the client was/)
    await rig.proxy.heal()
  })

  test('in the moment when using() is granted leaves nothing taken, and the work undone', async () => {
    const resolve = jest.spyOn(RacingWaiter.prototype, 'resolve')
    const theirs = semaphoreOf(rig.witness())
    await theirs.trySetPermits(1)
    // As many turns of promises as there can be between the grant and the work, and some more.
    for (let turns = 0; turns < 8; turns++) {
      const client = rig.client({ commandTimeoutMs: 5_000 })
      const semaphore = semaphoreOf(client)
      await semaphore.availablePermits()
      let closed: Promise<unknown> | undefined
      resolve.mockImplementationOnce(function (this: RacingWaiter, hold) {
        this.resolve(hold)
        let later = Promise.resolve()
        for (let i = 0; i < turns; i++) later = later.then(() => undefined)
        closed = later.then(() => client.close())
      })
      const used = await outcome(semaphore.using(() => 'done'))
      if (used.error !== undefined) {
        expect(used.error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
      }
      await closed
      await eventually(async () => (await theirs.availablePermits()) === 1, { timeoutMs: 3_000 })
    }
    resolve.mockRestore()
  })
})

test('using() does not make a semaphore again that is gone', async () => {
  const semaphore = semaphoreOf(rig.client())
  await semaphore.trySetPermits(2, { ttlMs: 60_000 })
  await semaphore.using(() => rig.server.admin.del('it'))
  expect(await rig.exists('it')).toBe(false)
  expect(await semaphore.trySetPermits(2, { ttlMs: 60_000 })).toBe(true)
})
