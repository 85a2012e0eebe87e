import type { Holdfast, WaitTimeoutError } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { takes } from '../support/takes.ts'
import { catchWarnings } from '../support/warnings.ts'
import { errorOf, inBothPlaces } from './both-places.ts'

const KINDS = [
  {
    kind: 'with leases',
    of: (client: Holdfast, name = 'it') => client.getPermitExpirableSemaphore(name),
    setBy:
      /setPermits\(n\) or trySetPermits\(n\) .* getPermitExpirableSemaphore\(name, \{ permits: n \}\)/,
  },
  {
    kind: 'without leases',
    of: (client: Holdfast, name = 'it') => client.getSemaphore(name),
    setBy: /trySetPermits\(n\) or addPermits\(n\) gives it permits/,
  },
]

const warnings = catchWarnings()

inBothPlaces(({ client }) => {
  describe.each(KINDS)('a semaphore $kind whose permits no client has set', ({ of, setBy }) => {
    test('the error at the end of a wait says that no permits are set, and which call sets them', async () => {
      const semaphore = of(client())
      // On a busy machine, the last request of a wait may get no answer.
      const error = await eventually(async () => {
        const thrown = (await errorOf(semaphore.acquire({ waitMs: 1_200 }))) as WaitTimeoutError
        return thrown.code === 'HOLDFAST_WAIT_TIMEOUT' && thrown
      })
      expect(error.message).toMatch(
        /^Semaphore "it": 1 permit not acquired within 1200 ms \(waited \d+ ms\)\. No permits are set: /,
      )
      expect(error.message).toMatch(setBy)
      expect(error.message).not.toMatch(/inspect|longer `waitMs`/)
      expect(error.why).toMatchObject({ name: 'it', outcome: 'unset', holder: null })
    })

    test('a warning appears once for each name and client after a short wait, even without `waitMs`', async () => {
      const one = client()
      const signal = new AbortController()
      const warned = deferred<void>()
      const warning = takes({ atLeast: 400 }, warned.promise)
      const waits = ['it', 'it', 'other'].map((name) =>
        errorOf(of(one, name).acquire({ signal: signal.signal })),
      )
      await eventually(() => warnings.length > 0)
      warned.resolve()
      await warning
      await eventually(() => warnings.length === 2)
      // During this time, the first waiter sends one more request.
      await never(() => warnings.length > 2, 1_300)
      expect(warnings.map(({ code }) => code)).toEqual(Array(2).fill('HOLDFAST_NO_PERMITS'))
      const texts = warnings.map(({ message }) => message).sort()
      expect(texts[0]).toMatch(
        /^Semaphore "it" has no permits, and a call has waited for one for 500 ms\. No client has set/,
      )
      expect(texts[0]).toMatch(setBy)
      expect(texts[1]).toContain('"other"')
      signal.abort(new Error('enough'))
      await Promise.all(waits)
    })

    test('a try returns null or false, without a warning', async () => {
      const semaphore = of(client())
      await eventually(async () => {
        const [start, before] = [performance.now(), warnings.length]
        expect(await semaphore.tryAcquire()).toBeFalsy()
        expect(await semaphore.tryAcquire({ waitMs: 100 })).toBeFalsy()
        // On a busy machine, a try may last as long as a wait that warns.
        if (performance.now() - start > 400) return false
        await never(() => warnings.length > before, 700)
        return true
      })
    })

    test('no warning appears if permits are set soon', async () => {
      const [semaphore, other] = [of(client()), of(client())]
      // Connects the other client before the wait begins.
      await other.availablePermits()
      const waiting = semaphore.acquire()
      await other.trySetPermits(1)
      const permit = await waiting
      await never(() => warnings.length > 0, 700)
      await permit?.release()
    })

    test('`why()` explains that no permits are set, and reports waiters', async () => {
      const semaphore = of(client())
      expect(await semaphore.why()).toMatchObject({
        ...{ name: 'it', outcome: 'unset', permits: null, available: 0, holders: [], waiting: [] },
        text: expect.stringMatching(/^Semaphore "it": No permits are set: .* No client waits\.$/),
      })
      const waiting = of(client()).acquire({ waitMs: 20_000 })
      await eventually(async () => (await semaphore.why()).waiting?.length === 1)
      expect((await semaphore.why()).text).toMatch(/ 1 client waits: the first wants 1 permit and /)
      await of(client()).trySetPermits(1)
      await waiting
    })
  })
})
