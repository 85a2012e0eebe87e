import type { Holdfast, LeaseLostError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, within } from '../support/fault-rig.ts'
import { expectWarnings } from '../support/warnings.ts'
import { errorOf, inBothPlaces } from './both-places.ts'

const leased = (client: Holdfast) => client.getPermitExpirableSemaphore('it')

inBothPlaces(({ client }) => {
  describe('permits that are released by id', () => {
    test('permits of any holder are free at once, and a waiter acquires them', async () => {
      const [a, b, c] = [client(), client(), client()]
      await leased(a).setPermits(2)
      const permit = await leased(a).acquire({ permits: 2, leaseMs: 60_000 })
      const waiting = leased(b).acquire({ permits: 2 })
      await eventually(async () => (await leased(c).inspect()).waiting.length === 1)
      expect(await leased(c).release(permit.ids)).toBe(true)
      const next = await within(900, waiting)
      expect(await leased(c).release(permit.ids)).toBe(false)
      expect(await permit.release()).toBe(false)
      expect(await next.release()).toBe(true)
      expect(await leased(c).availablePermits()).toBe(2)
    })

    test('the holder in the same client loses its permits at once, with the reason `forced`', async () => {
      const one = client()
      const diary = new Diary(one)
      await leased(one).setPermits(3)
      const permit = await leased(one).acquire({ permits: 2 })
      const other = await leased(one).acquire()
      expect(await leased(one).release(permit.ids[1] as string)).toBe(true)
      expect(permit.signal.aborted).toBe(true)
      expect((permit.signal.reason as LeaseLostError).reason).toBe('forced')
      expect((permit.signal.reason as Error).message).toContain('release() of the semaphore')
      expect(diary.reasons).toEqual(['forced'])
      expect(other.valid).toBe(true)
      // The release gives back the other permit, which the client still holds.
      expect(await permit.release()).toBe(false)
      await eventually(async () => (await leased(one).availablePermits()) === 2)
      expect(await other.release()).toBe(true)
    })

    test('a holder in another client loses its permits at its next renewal', async () => {
      const [a, b] = [client({ leaseMs: 900 }), client()]
      await leased(a).setPermits(1)
      const permit = await leased(a).acquire()
      expect(await leased(b).release(permit.ids)).toBe(true)
      await eventually(() => permit.signal.aborted)
      expect((permit.signal.reason as LeaseLostError).reason).toBe('gone')
      await permit.release()
    })

    test('the release returns false if some permits were not held, and frees the others', async () => {
      const one = client()
      await leased(one).setPermits(2)
      const permit = await leased(one).acquire({ permits: 2 })
      expect(await leased(one).release(['0'.repeat(32), ...permit.ids])).toBe(false)
      expect(await leased(one).availablePermits()).toBe(2)
      // Releases one id in capital letters and again in small letters.
      const next = await leased(one).acquire()
      const id = next.ids[0] as string
      expect(await leased(one).release([id.toUpperCase(), id])).toBe(true)
      expect(await leased(one).availablePermits()).toBe(2)
    })

    test.each([
      ['nothing', undefined],
      ['no id', []],
      ['a number', 1],
      ['null', null],
      ['a text that is no id', 'abc'],
      ['an owner id', ['x:1:1']],
      ['an array with a hole', [undefined]],
    ])('%s in the place of ids is refused, and the error says what is valid', async (_, given) => {
      const error = await errorOf(leased(client()).release(given as string))
      expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
      expect(error.message).toMatch(/release\(ids\) takes .*ids of permits/)
    })

    test('several ids are accepted only as an array', async () => {
      const ids = ['0'.repeat(32), '1'.repeat(32)] as never[]
      const error = await errorOf(leased(client()).release(...(ids as unknown as [string])))
      expect(error.message).toContain('as one array')
    })
  })

  describe('delete()', () => {
    test('`delete()` ends a semaphore with leases and all its permits, and reports if it existed', async () => {
      const [a, b] = [client(), client()]
      expect(await leased(a).delete()).toBe(false)
      await leased(a).setPermits(3)
      const permit = await leased(a).acquire({ permits: 2 })
      const elsewhere = await leased(b).acquire({ leaseMs: 60_000 })
      expect(await leased(a).delete()).toBe(true)
      expect(permit.signal.aborted).toBe(true)
      expect((permit.signal.reason as LeaseLostError).reason).toBe('forced')
      expect((permit.signal.reason as Error).message).toContain('delete() of the semaphore')
      expect(await leased(b).inspect()).toMatchObject({
        ...{ permits: null, available: 0, taken: 0, acquired: [], holders: [] },
      })
      // Permits that were acquired before the deletion add nothing to the new number.
      await leased(b).setPermits(1)
      expect(await elsewhere.release()).toBe(false)
      expect(await permit.release()).toBe(false)
      expect(await leased(b).availablePermits()).toBe(1)
    })

    test('`delete()` leaves calls waiting for new permits', async () => {
      // On a machine that stalls, half a second may pass until a client sets the permits again.
      expectWarnings('HOLDFAST_NO_PERMITS')
      const [a, b] = [client(), client()]
      await leased(a).setPermits(1)
      const permit = await leased(a).acquire({ leaseMs: 60_000 })
      const waiting = leased(b).acquire()
      await eventually(async () => (await leased(a).inspect()).waiting.length === 1)
      expect(await leased(a).delete()).toBe(true)
      await leased(a).setPermits(1)
      const next = await within(900, waiting)
      expect(await permit.release()).toBe(false)
      expect(await next.release()).toBe(true)
    })

    test('`delete()` lets a waiter with the option `permits` set the number again at once', async () => {
      const [a, b] = [client(), client()]
      const of = (one: Holdfast) => one.getPermitExpirableSemaphore('it', { permits: 1 })
      await of(a).acquire({ leaseMs: 60_000 })
      const waiting = of(b).acquire()
      await eventually(async () => (await of(a).inspect()).waiting.length === 1)
      expect(await of(a).delete()).toBe(true)
      const next = await within(900, waiting)
      expect((await of(a).inspect()).permits).toBe(1)
      await next.release()
    })

    test('`delete()` of a plain semaphore leaves calls waiting, and `using()` does not create it again', async () => {
      // On a machine that stalls, half a second may pass until a client sets the permits again.
      expectWarnings('HOLDFAST_NO_PERMITS')
      const [a, b] = [client(), client()].map((one) => one.getSemaphore('it'))
      expect(await a?.delete()).toBe(false)
      await a?.trySetPermits(1)
      let end = () => {}
      const working = a?.using(
        () =>
          new Promise<void>((resolve) => {
            end = resolve
          }),
      )
      const waiting = b?.acquire() as Promise<void>
      await eventually(async () => (await a?.inspect())?.waiting.length === 1)
      expect(await a?.delete()).toBe(true)
      expect(await b?.inspect()).toMatchObject({ isSet: false, available: 0 })
      end()
      await working
      expect(await b?.inspect()).toMatchObject({ isSet: false, available: 0 })
      expect(await b?.trySetPermits(1)).toBe(true)
      await within(900, waiting)
      expect(await b?.availablePermits()).toBe(0)
    })
  })
})
