import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type LeaseLostError, type Permit } from '../../src/index.ts'
import { HoldSet } from '../../src/local/hold-set.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, within } from '../support/fault-rig.ts'
import { expectWarnings } from '../support/warnings.ts'
import { allAreBack, listening, of, RAW, taken, waiting, withPermits } from './permits.ts'

const rig = faultRig()
const { server } = rig
const TIMEOUTS = '{it}:timeout'

const releaseAll = (permits: readonly Permit[]) =>
  Promise.all(permits.map((permit) => permit.release()))

describe('permits', () => {
  test('all clients share the permits, and each acquisition is separate', async () => {
    const [client, other] = [rig.client(), rig.client()]
    expect(await of(client).trySetPermits(4)).toBe(true)
    expect(await of(other).trySetPermits(9)).toBe(false)
    const semaphore = of(client)
    const one = await semaphore.acquire()
    const two = await client.run(() => semaphore.acquire({ permits: 2 }))
    const last = taken(await of(other).tryAcquire())
    expect([one, two, last].map(({ permits }) => permits)).toEqual([1, 2, 1])
    expect(await semaphore.tryAcquire()).toBeNull()
    expect(await of(other).tryAcquire({ waitMs: 500 })).toBeNull()
    expect(await semaphore.availablePermits()).toBe(0)

    const facts = await of(other).inspect()
    expect(facts).toMatchObject({ permits: 4, available: 0, taken: 4, waiting: [] })
    const ids = [one, two, last].flatMap((permit) => permit.ids)
    expect(facts.acquired.map(({ id }) => id).sort()).toEqual([...ids].sort())
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    for (const { ttlMs } of facts.acquired) expect(ttlMs).toBeGreaterThan(8_000)
    expect(two.token).toBeGreaterThan(one.token)
    expect(last.token).toBeGreaterThan(two.token)

    expect(await releaseAll([one, two, last])).toEqual([true, true, true])
    await allAreBack(server, 4)
  })

  test('a semaphore begins without permits, and a waiter is served when a client sets them', async () => {
    const semaphore = of(rig.client())
    expect(await semaphore.inspect()).toMatchObject({ permits: null, available: 0, taken: 0 })
    // The warning appears if the wait lasts longer than half a second.
    expectWarnings('HOLDFAST_NO_PERMITS')
    const acquiring = semaphore.acquire()
    await listening(server, 1)
    await of(rig.client()).trySetPermits(1)
    await (await within(900, acquiring)).release()
    await allAreBack(server, 1)
  })

  test('a request for more permits than exist is refused with both numbers', async () => {
    const semaphore = await withPermits(rig.client(), 5)
    const permit = await semaphore.acquire({ permits: 2 })
    for (const asked of [semaphore.acquire({ permits: 7 }), semaphore.tryAcquire({ permits: 7 })]) {
      const error = await asked.catch((reason: Error) => reason)
      expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT', lockName: RAW })
      expect((error as Error).message).toMatch(/7 permits .* 5 in all \(3 available, 2 taken\)/)
    }
    await permit.release()
    await allAreBack(server, 5)
  })

  test('a waiter for too many permits is refused after a reduction, and the waiter behind it is served', async () => {
    const [client, other] = [rig.client(), rig.client()]
    const semaphore = await withPermits(client, 3)
    const permit = await semaphore.acquire({ permits: 2 })
    const many = semaphore.acquire({ permits: 3 })
    await listening(server, 1)
    const few = of(other).acquire()
    await waiting(server, 2)
    await listening(server, 2)
    const { waiting: clients } = await semaphore.inspect()
    expect(clients.map((one) => [one.client, one.permits])).toEqual([
      [client.id, 3],
      [other.id, 1],
    ])
    expect(clients[0]?.waitedMs).toBeGreaterThanOrEqual(clients[1]?.waitedMs as number)
    const error = many.catch((reason: Error) => reason)
    await semaphore.addPermits(-1)
    expect(await within(900, error)).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    await permit.release()
    await (await within(900, few)).release()
    await allAreBack(server, 2)
  })

  test('the number of free permits is negative after a reduction, until enough permits are returned', async () => {
    const semaphore = await withPermits(rig.client(), 5)
    const permits = await Promise.all([1, 2, 3, 4].map(() => semaphore.acquire()))
    await semaphore.setPermits(2)
    expect(await semaphore.availablePermits()).toBe(-2)
    expect(await semaphore.drainPermits()).toBe(0)
    expect(await semaphore.availablePermits()).toBe(-2)
    await releaseAll(permits.splice(0, 2))
    expect(await semaphore.tryAcquire()).toBeNull()
    await releaseAll(permits.splice(0, 1))
    permits.push(taken(await semaphore.tryAcquire()))
    expect(await semaphore.tryAcquire()).toBeNull()
    await releaseAll(permits)
    await allAreBack(server, 2)
  })

  test('drained permits are gone, and permits that were taken are returned', async () => {
    const semaphore = await withPermits(rig.client(), 5)
    const permit = await semaphore.acquire({ permits: 2 })
    expect(await semaphore.drainPermits()).toBe(3)
    expect(await semaphore.availablePermits()).toBe(0)
    await permit.release()
    await allAreBack(server, 2)
  })

  test('added permits wake as many waiters as there are permits', async () => {
    const clients = [rig.client(), rig.client()]
    const semaphore = await withPermits(clients[0] as Holdfast, 0)
    let granted = 0
    const all = [0, 1, 0, 1, 0].map(async (i) => {
      const permit = await of(clients[i] as Holdfast).acquire()
      granted += 1
      return permit
    })
    await listening(server, 2)
    await waiting(server, 2)
    await semaphore.addPermits(3)
    await eventually(() => granted === 3, { timeoutMs: 900 })
    await never(() => granted > 3, 60)
    await semaphore.addPermits(2)
    await releaseAll(await within(900, Promise.all(all)))
    await allAreBack(server, 5)
  })

  test('5,000 permits in one call are acquired, listed and released; 5,001 are refused', async () => {
    // A busy machine needs a long time for 5,000 permits.
    const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
    const semaphore = await withPermits(client, 9_000)
    const permit = await semaphore.acquire({ permits: 5_000 })
    expect(new Set(permit.ids).size).toBe(5_000)
    const { available, acquired } = await semaphore.inspect()
    expect(available).toBe(4_000)
    expect(acquired.length).toBe(1_000)
    for (const { id } of acquired) expect(permit.ids.includes(id)).toBe(true)
    await permit.extend(20_000)
    expect(await permit.release()).toBe(true)
    await expect(semaphore.acquire({ permits: 5_001 })).rejects.toThrow(/from 1 to 5000; got 5001/)
    await allAreBack(server, 9_000)
  })

  test('permits of a client with a key prefix use the name with the prefix', async () => {
    const client = rig.client({ keyPrefix: 'app:' })
    const semaphore = client.getPermitExpirableSemaphore('{x}')
    await semaphore.setPermits(1)
    const permit = await semaphore.acquire()
    expect(await server.admin.zcard('app:{x}:timeout')).toBe(1)
    expect(await server.admin.get('app:{x}')).toBe('0')
    await permit.release()
    await server.admin.del('app:{x}')
  })

  test('permits are refused under a name that another key has', async () => {
    const semaphore = of(rig.client())
    await server.admin.hset(RAW, 'field', 1)
    const all = [
      semaphore.acquire(),
      semaphore.tryAcquire(),
      semaphore.setPermits(1),
      semaphore.inspect(),
    ]
    for (const one of all) await expect(one).rejects.toMatchObject({ code: 'HOLDFAST_REFUSED' })
    await server.admin.del(RAW)
  })

  test('permits need one server', async () => {
    const client = new Holdfast({ masters: ['redis://localhost:1'] })
    expect(() => client.getPermitExpirableSemaphore('it')).toThrow(/three holders/)
    await client.close()
  })

  test.each([0, -1, 1.5, '2', null, Number.NaN, 2 ** 31])(
    '%p is refused as a number of permits',
    async (permits) => {
      const semaphore = of(rig.client()) as unknown as Record<
        string,
        (value: unknown) => Promise<unknown>
      >
      const bad = { code: 'HOLDFAST_INVALID_ARGUMENT' }
      await expect(semaphore.acquire?.({ permits })).rejects.toMatchObject(bad)
      await expect(semaphore.tryAcquire?.({ permits })).rejects.toMatchObject(bad)
      if (permits === 0) return
      await expect(semaphore.trySetPermits?.(permits)).rejects.toMatchObject(bad)
      await expect(semaphore.setPermits?.(permits)).rejects.toMatchObject(bad)
      if (permits !== -1) await expect(semaphore.addPermits?.(permits)).rejects.toMatchObject(bad)
    },
  )

  test('unknown options and invalid values are refused', async () => {
    const semaphore = of(rig.client())
    const ask = (options: unknown, ...others: never[]) =>
      semaphore.acquire(options as object, ...(others as []))
    await expect(ask(2)).rejects.toThrow(/an object with `permits`, .*; got 2/)
    await expect(ask(null)).rejects.toThrow(/got null/)
    await expect(ask({ permit: 2 })).rejects.toThrow(
      /no option `permit`.* permits, leaseMs, renew, maxHoldMs, waitMs, signal/,
    )
    await expect(ask({ waitMs: 0 })).rejects.toThrow(/got 0\. .*, use tryAcquire\(\)/)
    await expect(ask({ waitMs: -2 })).rejects.toThrow(/`waitMs` .*got -2/)
    await expect(ask({ leaseMs: 1 })).rejects.toThrow(/`leaseMs`/)
    await expect(ask({ signal: {} })).rejects.toThrow(/`signal`/)
    await expect(ask({}, 5 as never)).rejects.toThrow(/Too many arguments/)
    await expect(semaphore.tryAcquire({ waitMs: 0 })).rejects.toThrow(/`waitMs`/)
    await expect(semaphore.using('fn' as never)).rejects.toThrow(/must be a function/)
    await expect(ask({ signal: AbortSignal.abort('no') })).rejects.toBe('no')
  })

  test('an acquisition does not look through the 300 permits that its client holds', async () => {
    const semaphore = await withPermits(rig.client(), 1_000)
    const held: Permit[] = []
    for (let i = 0; i < 300; i++) held.push(await semaphore.acquire())
    const all = jest.spyOn(HoldSet.prototype, 'all', 'get')
    try {
      const more = await Promise.all([1, 2, 3].map(() => semaphore.acquire()))
      await releaseAll(more)
      expect(all).not.toHaveBeenCalled()
    } finally {
      all.mockRestore()
    }
    await releaseAll(held)
    await allAreBack(server, 1_000)
  })
})

describe('the lease of permits', () => {
  test('the lease is renewed until the permits are released', async () => {
    const client = rig.client({ leaseMs: 1_200 })
    const diary = new Diary(client)
    const semaphore = await withPermits(client, 2)
    const permit = await semaphore.acquire({ permits: 2 })
    await eventually(() => diary.renewed >= 3)
    expect(permit.valid).toBe(true)
    expect(permit.signal.aborted).toBe(false)
    expect(await of(rig.witness()).availablePermits()).toBe(0)
    expect(await permit.release()).toBe(true)
    expect(diary.acquired).toEqual([permit.token])
    expect(diary.released).toEqual([permit.token])
    expect(diary.lost).toEqual([])
    await allAreBack(server, 2)
  })

  test('a fixed lease ends, its loss is reported, and another client acquires the permit', async () => {
    const client = rig.client()
    const diary = new Diary(client)
    const semaphore = await withPermits(client, 1)
    const permit = await semaphore.acquire({ leaseMs: 700 })
    await eventually(() => permit.signal.aborted)
    expect(diary.reasons).toEqual(['expired'])
    expect(() => permit.assertValid()).toThrow(/was lost/)
    expect(await permit.release()).toBe(false)
    await (await within(900, of(rig.witness()).acquire())).release()
    await allAreBack(server, 1)
  })

  test('`extend()` lengthens the lease of all permits of an acquisition', async () => {
    const semaphore = await withPermits(rig.client(), 3)
    const permit = await semaphore.acquire({ permits: 3, leaseMs: 2_000 })
    await permit.extend(5_000)
    expect(permit.remaining()).toBeGreaterThan(4_000)
    const { acquired } = await semaphore.inspect()
    expect(acquired.map(({ ttlMs }) => Number(ttlMs) > 4_000)).toEqual([true, true, true])
    await permit.release()
    await expect(permit.extend(5_000)).rejects.toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    await allAreBack(server, 3)
  })

  test('the lease is lost if one permit was taken away, and the other permits are returned', async () => {
    const client = rig.client({ leaseMs: 1_500 })
    const diary = new Diary(client)
    const semaphore = await withPermits(client, 3)
    const permit = await semaphore.acquire({ permits: 3 })
    // Redisson releases one permit by its id.
    await server.admin.zrem(TIMEOUTS, Buffer.from(permit.ids[1] as string, 'hex'))
    await server.admin.incr(RAW)
    await eventually(() => permit.signal.aborted)
    expect((permit.signal.reason as LeaseLostError).reason).toBe('gone')
    expect(diary.lost).toEqual([permit.token])
    expect(await permit.release()).toBe(false)
    await allAreBack(server, 3)
  })

  test('`close()` ends the leases and returns all permits', async () => {
    const client = rig.client()
    const semaphore = await withPermits(client, 4)
    const permits = await Promise.all([1, 2, 1].map((n) => semaphore.acquire({ permits: n })))
    const acquiring = semaphore.acquire().catch((error: Error) => error)
    await listening(server, 1)
    await client.close()
    expect(await acquiring).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    for (const permit of permits) expect(permit.signal.aborted).toBe(true)
    await expect(semaphore.acquire()).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await expect(semaphore.setPermits(2)).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await allAreBack(server, 4)
  })
})

describe('tryUsing', () => {
  test('`tryUsing()` runs the work if permits are free at once or in time, and returns them', async () => {
    const semaphore = await withPermits(rig.client(), 2)
    const all = (await semaphore.tryUsing((permit) => permit.permits, { permits: 2 })) as number
    expect(all).toBe(2)
    const permit = await semaphore.acquire({ permits: 2 })
    const waits = semaphore.tryUsing((own) => own.valid, { waitMs: 10_000 })
    await waiting(server, 1)
    await permit.release()
    expect(await waits).toBe(true)
    await allAreBack(server, 2)
  })

  test('`tryUsing()` returns null, and does not run the work, if no permits are free', async () => {
    const semaphore = await withPermits(rig.client(), 1)
    const permit = await semaphore.acquire()
    const work = jest.fn()
    expect(await semaphore.tryUsing(work)).toBeNull()
    expect(await semaphore.tryUsing(work, { waitMs: 300 })).toBeNull()
    expect(await semaphore.tryUsing(work, { otherwise: 'busy' })).toBe('busy')
    await expect(semaphore.tryAcquire({ otherwise: 1 } as object)).rejects.toThrow(/`otherwise`/)
    expect(work).not.toHaveBeenCalled()
    await permit.release()
    await allAreBack(server, 1)
  })

  test('`tryUsing()` rejects with the error of the work, with a lost lease, and for invalid arguments', async () => {
    const semaphore = await withPermits(rig.client(), 1)
    const failing = semaphore.tryUsing(() => {
      throw new Error('broken')
    })
    await expect(failing).rejects.toThrow('broken')
    const lost = semaphore.tryUsing(() => pause(700), { leaseMs: 500 })
    await expect(lost).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
    await expect(semaphore.tryUsing('fn' as never)).rejects.toThrow(/must be a function/)
    await expect(semaphore.tryUsing(() => {}, { waitMs: 0 })).rejects.toThrow(/`waitMs`/)
    await allAreBack(server, 1)
  })
})

test('a lease with its own length is renewed if `renew` is true', async () => {
  const client = rig.client({ leaseMs: 60_000 })
  const semaphore = await withPermits(client, 1)
  const renewed = jest.fn()
  client.on('renewed', renewed)
  const permit = await semaphore.acquire({ leaseMs: 900, renew: true })
  await eventually(() => renewed.mock.calls.length >= 3)
  expect(permit.remaining()).toBeLessThanOrEqual(900)
  expect(await permit.release()).toBe(true)
  await allAreBack(server, 1)
})

test('a wait longer than `waitMs` of the call, or of the client, rejects', async () => {
  const semaphore = await withPermits(rig.client({ waitMs: 600 }), 1)
  const permit = await semaphore.acquire()
  const timeout = { code: 'HOLDFAST_WAIT_TIMEOUT', lockName: 'it', waitedMs: expect.any(Number) }
  await expect(semaphore.acquire()).rejects.toMatchObject(timeout)
  const work = jest.fn()
  await expect(semaphore.using(work, { waitMs: 500 })).rejects.toThrow(
    /^Semaphore "it": 1 permit not acquired within 500 ms .* 1 of 1 permit is taken: 1 by this client for \d+ m?s\. /,
  )
  expect(work).not.toHaveBeenCalled()
  const waiting = semaphore.acquire({ waitMs: Infinity })
  const served = jest.fn()
  void waiting.then(served)
  await never(() => served.mock.calls.length > 0, 60)
  await permit.release()
  await (await waiting).release()
  await allAreBack(server, 1)
})

describe('using', () => {
  test('`using()` returns its permits even if the work fails, and passes on the result or the error', async () => {
    const semaphore = await withPermits(rig.client(), 2)
    const seen = await semaphore.using(
      async (permit) => {
        expect(await semaphore.availablePermits()).toBe(0)
        return permit.permits
      },
      { permits: 2 },
    )
    expect(seen).toBe(2)
    const failing = semaphore.using(() => {
      throw new Error('of the work')
    })
    await expect(failing).rejects.toThrow('of the work')
    await allAreBack(server, 2)
  })

  test('`using()` rejects if the lease was lost, although the work succeeded', async () => {
    const semaphore = await withPermits(rig.client(), 1)
    const working = semaphore.using(() => pause(700), { leaseMs: 500 })
    await expect(working).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
    await allAreBack(server, 1)
  })

  test('`using()` rejects with the loss, and the error of the work is its cause', async () => {
    const semaphore = await withPermits(rig.client(), 1)
    const working = semaphore.using((permit) => pause(5_000, 0, { signal: permit.signal }), {
      leaseMs: 500,
    })
    await expect(working).rejects.toMatchObject({
      code: 'HOLDFAST_LEASE_LOST',
      reason: 'expired',
      cause: expect.objectContaining({ name: 'AbortError' }),
    })
    await allAreBack(server, 1)
  })

  test('an `await using` block returns its permit at the end', async () => {
    const semaphore = await withPermits(rig.client(), 1)
    {
      await using permit = await semaphore.acquire()
      expect(permit.valid).toBe(true)
    }
    await allAreBack(server, 1)
  })
})

test("permits work with the user's own ioredis instance", async () => {
  const client = rig.client({}, 'instance')
  const semaphore = await withPermits(client, 2)
  const permit = await semaphore.acquire({ permits: 2 })
  expect((await semaphore.inspect()).acquired.map(({ id }) => id).sort()).toEqual(permit.ids)
  await permit.release()
  await allAreBack(server, 2)
})
