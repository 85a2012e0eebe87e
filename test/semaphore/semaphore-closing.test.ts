import { setTimeout as pause } from 'node:timers/promises'
import { RacingWaiter } from '../../src/local/racing-waiter.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { outcome } from '../support/fault-rig.ts'
import { releaseSemaphore } from '../support/scripts.ts'
import { takes } from '../support/takes.ts'
import { semaphoreOf, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

describe('close()', () => {
  test.each(['pass', 'cutBefore', 'cutAfter'] as const)(
    '`close()` waits for a release that is under way, when its request meets `%s`',
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

  test('`close()` waits for a release of `using()` that is under way', async () => {
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

  test.each<[string, number, () => unknown]>([
    ['request', 0, () => rig.proxy.blackHole({ onHeal: 'drop' })],
    ['reply', 1, () => rig.proxy.dropReplies()],
  ])(
    'a release whose %s is lost during `close()` rejects as possibly released',
    async (_, left, breakOff) => {
      const client = rig.client()
      const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
      await theirs.trySetPermits(1)
      await semaphore.acquire()
      breakOff()
      const released = outcome(semaphore.release())
      await client.close()
      const { error } = await released
      expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
      expect(String(error)).toMatch(
        /possibly released, but Redis did not confirm it: the client was/,
      )
      await rig.proxy.heal()
      expect(await theirs.availablePermits()).toBe(left)
    },
  )

  /** From now on, no connection reaches the server, not even an open connection. */
  const cutOff = () => {
    rig.proxy.refuse()
    rig.proxy.cut()
  }

  test.each([
    ['a server that refuses connections', cutOff],
    ['a server that does not answer', () => rig.proxy.blackHole({ onHeal: 'drop' })],
  ])('`close()` returns the permits of work when a short outage ends: %s', async (_, breakOff) => {
    const client = rig.client({ commandTimeoutMs: 1_500, outageMs: 10_000 })
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    const [work, begun] = [deferred<void>(), deferred<void>()]
    const used = semaphore.using(() => {
      begun.resolve()
      return work.promise
    })
    await begun.promise
    breakOff()
    const closing = client.close()
    await pause(1_600)
    await rig.proxy.heal()
    await closing
    expect(await theirs.availablePermits()).toBe(1)
    work.resolve()
    await used
  })

  test('`close()` continues a release that was given up during an outage', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000, outageMs: 1_000 })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    const [work, begun] = [deferred<void>(), deferred<void>()]
    const used = semaphore.using(() => {
      begun.resolve()
      return work.promise
    })
    await begun.promise
    cutOff()
    work.resolve()
    await pause(600)
    const closing = client.close()
    await eventually(() => errors.some(({ message }) => message.includes('1 permit was')))
    await rig.proxy.heal()
    await closing
    expect(await theirs.availablePermits()).toBe(1)
    await used
  })

  test('`close()` in a lasting outage takes no longer than two commands, and reports the permits', async () => {
    const client = rig.client({ commandTimeoutMs: 500, outageMs: 10_000 })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    const [work, begun] = [deferred<void>(), deferred<void>()]
    const used = semaphore.using(() => {
      begun.resolve()
      return work.promise
    })
    await begun.promise
    cutOff()
    await takes({ atMost: 1_000 + 500 }, client.close())
    work.resolve()
    await used
    expect(errors.at(-1)).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
    await rig.proxy.heal()
    expect(await theirs.availablePermits()).toBe(0)
  })

  test('`close()` at the moment when `using()` is granted leaves no permit taken', async () => {
    const resolve = jest.spyOn(RacingWaiter.prototype, 'resolve')
    const theirs = semaphoreOf(rig.witness())
    await theirs.trySetPermits(1)
    const ends = new Set<string>()
    // More turns of the microtask queue than there are between the grant and the work.
    for (let turns = 0; turns < 8; turns++) {
      const client = rig.client({ commandTimeoutMs: 5_000 })
      const semaphore = semaphoreOf(client)
      await semaphore.availablePermits()
      let closed: Promise<unknown> | undefined
      resolve.mockImplementationOnce(function (this: RacingWaiter<unknown>, hold) {
        this.resolve(hold)
        let later = Promise.resolve()
        for (let i = 0; i < turns; i++) later = later.then(() => undefined)
        closed = later.then(() => client.close())
      })
      const used = await outcome(semaphore.using(() => 'done'))
      if (used.error !== undefined) {
        expect(used.error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
      }
      ends.add(used.value ?? 'refused')
      expect(closed).toBeDefined()
      await closed
      await eventually(async () => (await theirs.availablePermits()) === 1, { timeoutMs: 3_000 })
    }
    resolve.mockRestore()
    // In some rounds, the client closed before the work, and in other rounds after its start.
    expect([...ends].sort()).toEqual(['done', 'refused'])
  })
})

test('`using()` does not create a deleted semaphore again', async () => {
  const semaphore = semaphoreOf(rig.client())
  await semaphore.trySetPermits(2, { ttlMs: 60_000 })
  await semaphore.using(() => rig.server.admin.del('it'))
  expect(await rig.exists('it')).toBe(false)
  expect(await semaphore.trySetPermits(2, { ttlMs: 60_000 })).toBe(true)
})
