import type { Holdfast, Permit } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { catchWarnings } from '../support/warnings.ts'
import { errorOf, inBothPlaces } from './both-places.ts'

const warnings = catchWarnings()

const limited = (client: Holdfast, permits = 5) =>
  client.getPermitExpirableSemaphore('it', { permits })

inBothPlaces(({ client, loseData }) => {
  test('a semaphore with the option `permits` needs no other call', async () => {
    const [a, b] = [client(), client()]
    expect(await limited(a).availablePermits()).toBe(5)
    expect((await limited(a).inspect()).permits).toBeNull()
    const permit = await limited(a).acquire({ permits: 2 })
    expect(await limited(b).tryAcquire({ permits: 4 })).toBeNull()
    expect(await limited(b).using(() => limited(b).availablePermits(), { permits: 3 })).toBe(0)
    expect(await b.getPermitExpirableSemaphore('it').inspect()).toMatchObject({
      ...{ permits: 5, available: 3, taken: 2 },
    })
    await permit.release()
    expect(warnings).toEqual([])
  })

  test('a request for more permits than the option allows is refused', async () => {
    const error = await errorOf(limited(client()).acquire({ permits: 6 }))
    expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    expect(error.message).toMatch(/6 permits .* 5 in all \(5 available, 0 taken\)/)
  })

  test('after the server lost its data, waiters are served, and the permits held stay within the option', async () => {
    const [a, b] = [client(), client()]
    const held = await limited(a, 1).acquire()
    const first = limited(b, 1).acquire()
    const second = limited(b, 1).acquire()
    await eventually(async () => (await limited(a, 1).inspect()).waiting.length === 1)
    await loseData()
    // A waiter sends its next request within a second.
    const permit: Permit = await within(3_000, first)
    expect(await limited(a, 1).tryAcquire()).toBeNull()
    await permit.release()
    await (await within(3_000, second)).release()
    expect(await held.release()).toBe(false)
    expect(await limited(a, 1).availablePermits()).toBe(1)
  })

  test('another number in Redis is used, and one warning names both numbers and the remedy', async () => {
    const [a, b] = [client(), client()]
    await a.getPermitExpirableSemaphore('it').setPermits(3)
    const permits = [await limited(b).acquire(), await limited(b).acquire({ permits: 2 })]
    expect(await limited(b).tryAcquire()).toBeNull()
    expect(warnings.map(({ code }) => code)).toEqual(['HOLDFAST_PERMITS_DIFFER'])
    expect(warnings[0]?.message).toMatch(
      /^Semaphore "it" has 3 permits in Redis, but the option `permits` of this client is 5\. .* Call setPermits\(5\) to change it/,
    )
    await Promise.all(permits.map((permit) => permit.release()))
    await limited(a, 3).acquire()
    expect(warnings.length).toBe(1)
  })

  test.each<[string, (one: Holdfast) => Promise<unknown>]>([
    [
      'at an acquisition that is refused forever',
      (one) => errorOf(limited(one).acquire({ permits: 4 })),
    ],
    [
      'at an acquisition that waits',
      async (one) => {
        const abort = new AbortController()
        const acquiring = errorOf(limited(one).acquire({ permits: 3, signal: abort.signal }))
        await eventually(() => warnings.length > 0)
        abort.abort(new Error('enough'))
        await acquiring
      },
    ],
    ['at a try', (one) => limited(one).tryAcquire({ permits: 3 })],
  ])('another number in Redis causes a warning: %s', async (_, ask) => {
    const one = client()
    await one.getPermitExpirableSemaphore('it').setPermits(3)
    const permit = await one.getPermitExpirableSemaphore('it').acquire()
    await ask(client())
    expect(warnings.map(({ code }) => code)).toEqual(['HOLDFAST_PERMITS_DIFFER'])
    await permit.release()
  })

  test('`setPermits()` changes the number, and the option does not set it back', async () => {
    const one = client()
    await (await limited(one).acquire()).release()
    await limited(one).setPermits(8)
    const permit = await limited(one).acquire({ permits: 7 })
    expect((await limited(one).inspect()).permits).toBe(8)
    await permit.release()
    expect(warnings.length).toBe(1)
  })

  test('without the option no number is set, and no number is compared', async () => {
    const one = client()
    expect(await one.getPermitExpirableSemaphore('it', {}).tryAcquire()).toBeNull()
    expect((await one.getPermitExpirableSemaphore('it').inspect()).permits).toBeNull()
    await never(() => warnings.length > 0, 50)
  })
})
