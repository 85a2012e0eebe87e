import { Holdfast, type HoldfastOptions, NotDurableError } from '../../src/index.ts'
import { resolveOptions } from '../../src/options/settings.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, SHA } from '../support/fault-rig.ts'
import { isWait, keepUp, replicatedRig } from './durability-rig.ts'

const rig = replicatedRig()

/** Checks that no client holds the lock, and that the next call acquires it. */
async function isFree(name: string): Promise<void> {
  const other = rig.witness()
  await granted(await other.getLock(name).tryLock(5_000)).release()
  expect(await rig.hash(name)).toEqual({})
}

/** The replicas leave the master. Waits until the master knows this. */
async function withoutReplicas(): Promise<void> {
  await Promise.all(rig.replicas.map(({ admin }) => admin.replicaof('NO', 'ONE')))
  await keepUp(rig.master, 0)
}

describe('an acquisition', () => {
  test('an acquisition is granted when the wanted number of replicas has it, and not before', async () => {
    const [first] = rig.replicas
    const client = rig.client({ replicas: 2, timeoutMs: 5_000 })
    const lease = granted(await client.getLock('it').tryLock())
    expect(await rig.hash('it', first)).toEqual({ [lease.owner]: '1' })
    await lease.release()

    first.pause()
    const diary = new Diary(client)
    const waiting = outcome(client.getLock('it').tryLock())
    await eventually(() => rig.proxy.count(isWait) === 2)
    expect(Object.keys(await rig.hash('it'))).toHaveLength(1)
    expect(diary.acquired).toEqual([])
    first.resume()
    const later = granted((await waiting).value ?? null)
    expect(diary.acquired).toEqual([later.token])
    expect(await rig.hash('it', first)).toEqual({ [later.owner]: '1' })
    await later.release()
  })

  test('a client with a short lease gives the replicas half of that lease by default', async () => {
    const [first] = rig.replicas
    const client = rig.client({ replicas: 2 }, { leaseMs: 1_600 })
    await granted(await client.getLock('it').tryLock()).release()
    first.pause()
    const { error } = await outcome(client.getLock('it').tryLock())
    expect(error).toBeInstanceOf(NotDurableError)
    expect(error).toMatchObject({ timeoutMs: 800, confirmed: 1 })
    first.resume()
    await isFree('it')
  })

  test('an acquisition without enough replicas in time is undone once and rejects', async () => {
    const [first] = rig.replicas
    const client = rig.client({ replicas: 2, timeoutMs: 800 }, { commandTimeoutMs: 5_000 })
    const diary = new Diary(client)
    first.pause()
    const { error } = await outcome(client.getLock('it').tryLock())
    expect(error).toBeInstanceOf(NotDurableError)
    expect(error).toMatchObject({
      code: 'HOLDFAST_NOT_DURABLE',
      lockName: 'it',
      wanted: 2,
      confirmed: 1,
      connected: 2,
      timeoutMs: 800,
    })
    expect(String(error)).toContain(
      '"it": not acquired: 2 replicas had to confirm it within 800 ms',
    )
    await isFree('it')
    expect(rig.proxy.count(SHA.release)).toBe(1)
    expect(rig.proxy.count(SHA.acquire)).toBe(1)
    expect({ ...diary }).toMatchObject({ acquired: [], released: [], lost: [], errors: [] })
  })

  test.each([
    { wanted: 1 as const, has: true },
    { wanted: 2 as const, has: false },
    { wanted: 'all' as const, has: false },
  ])(
    'with one answer of two replicas, and $wanted wanted, an acquisition is granted: $has',
    async (one) => {
      const [first] = rig.replicas
      const client = rig.client({ replicas: one.wanted, timeoutMs: one.has ? 5_000 : 800 })
      first.pause()
      const { value, error } = await outcome(client.getLock('it').tryLock())
      expect(value !== undefined).toBe(one.has)
      if (!one.has) expect(error).toMatchObject({ wanted: one.wanted, confirmed: 1, connected: 2 })
      await value?.release()
      await isFree('it')
    },
  )

  test.each([{ wanted: 1 as const }, { wanted: 'all' as const }])(
    'an acquisition with no replica, and $wanted wanted, is undone until a replica comes',
    async ({ wanted }) => {
      const client = rig.client({ replicas: wanted, timeoutMs: 200 })
      await withoutReplicas()
      const { error } = await outcome(client.getLock('it').tryLock())
      expect(error).toBeInstanceOf(NotDurableError)
      expect(error).toMatchObject({ wanted, confirmed: 0, connected: 0 })
      await isFree('it')
      const { master, replicas } = rig
      await replicas[0].admin.replicaof(master.host, master.port)
      const patient = rig.client({ replicas: wanted, timeoutMs: 10_000 })
      await eventually(async () =>
        (await master.admin.info('replication')).includes('state=online'),
      )
      const lease = granted(await patient.getLock('it').tryLock())
      expect(await rig.hash('it', replicas[0])).toEqual({ [lease.owner]: '1' })
      await lease.release()
    },
  )

  test('lock() without enough replicas rejects, and the next call of its client acquires the lock', async () => {
    const [first] = rig.replicas
    const client = rig.client({ replicas: 2, timeoutMs: 1_500 })
    first.pause()
    const lock = client.getLock('it')
    const [one, next] = [outcome(lock.lock()), outcome(lock.lock())]
    expect((await one).error).toBeInstanceOf(NotDurableError)
    first.resume()
    const lease = granted((await next).value ?? null)
    expect(await rig.hash('it', first)).toEqual({ [lease.owner]: '1' })
    await lease.release()
  })
})

describe('the confirmation by replicas', () => {
  test('a confirmation is a write, then WAIT, then a check, on its own connection', async () => {
    const client = rig.client({ replicas: 2 })
    await granted(await client.getLock('it').tryLock()).release()
    const acquired = rig.proxy.requests.find(({ args }) => args[0] === SHA.acquire)
    const wait = rig.proxy.requests.find(isWait)
    const there = rig.proxy.requests.filter(({ connection }) => connection === wait?.connection)
    const at = there.findIndex(isWait)
    expect(there.slice(at - 1).map(({ command }) => command)).toEqual(['SET', 'WAIT', 'EVAL'])
    expect(there[at - 1]?.args).toEqual(['holdfast_confirm:{it}', '', 'PX', '1'])
    expect(wait?.args).toEqual(['2', '1000'])
    expect(acquired?.connection).not.toBe(wait?.connection)
  })

  test('a confirmation covers all locks that were granted meanwhile', async () => {
    const client = rig.client({ replicas: 2 })
    await granted(await client.getLock('warm').tryLock()).release()
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const before = rig.proxy.count(isWait)
    const names = Array.from({ length: 40 }, (_, i) => `it ${i}`)
    const all = names.map((name) => client.getLock(name).tryLock())
    await eventually(async () => (await rig.master.admin.exists(...names)) === 40)
    trap.release()
    const leases = (await Promise.all(all)).map(granted)
    expect(rig.proxy.count(isWait) - before).toBeLessThanOrEqual(2)
    await Promise.all(leases.map((lease) => lease.release()))
  })

  test('a client without durability opens no extra connection and sends no WAIT', async () => {
    const { host, port } = rig.proxy
    const client = new Holdfast({ redis: { host, port } })
    const lease = granted(await client.getLock('it').tryLock())
    expect(rig.proxy.connections).toHaveLength(1)
    expect(rig.proxy.count(isWait) + rig.proxy.count('holdfast_confirm')).toBe(0)
    await lease.release()
    await client.close()
  })

  test('a confirmation delays no other call of the client', async () => {
    const [first] = rig.replicas
    // No command may time out before WAIT ends.
    const patience = { commandTimeoutMs: 12_000, outageMs: 20_000 }
    const client = rig.client({ replicas: 2, timeoutMs: 6_000 }, patience)
    const slots = client.getSemaphore('slots')
    await slots.trySetPermits(1)
    const held = granted(await client.getLock('held').tryLock())
    first.pause()
    let isOver = false
    const waiting = outcome(client.getLock('it').tryLock()).finally(() => {
      isOver = true
    })
    await eventually(() => rig.proxy.count(isWait) === 2)
    // These calls run one after another. If a call waited for the replica, it would end only after the replica resumes.
    await held.extend(15_000)
    expect(await client.getLock('it').isLocked()).toBe(true)
    expect(await slots.tryAcquire()).toBe(true)
    await slots.release()
    expect(await held.release()).toBe(true)
    expect(isOver).toBe(false)
    first.resume()
    await granted((await waiting).value ?? null).release()
    await rig.master.admin.del('slots')
  })
})

describe('wrong options', () => {
  const refused = (options: object) => {
    const all = { redis: 'redis://127.0.0.1:1', ...options } as HoldfastOptions
    return () => new Holdfast(all)
  }

  test.each([
    [0, 'got 0'],
    [-1, 'got -1'],
    [1.5, 'got 1.5'],
    ['2', 'got "2"'],
    ['some', 'got "some"'],
    [undefined, 'got undefined'],
    [Infinity, 'got Infinity'],
  ])('`replicas: %p` is refused', (replicas, got) => {
    expect(refused({ durability: { replicas } })).toThrow(got)
  })

  test.each([
    [0, 'got 0'],
    [-5, 'got -5'],
    [0.5, 'got 0.5'],
    ['1s', 'got "1s"'],
    [30_000, ', at most 29999; got 30000'],
  ])('`timeoutMs: %p` is refused', (timeoutMs, got) => {
    expect(refused({ durability: { replicas: 1, timeoutMs } })).toThrow(got)
  })

  test.each([
    [10, 5],
    [1_001, 500],
    [1_999, 999],
    [2_000, 1_000],
    [30_000, 1_000],
  ])(
    'with `leaseMs: %p` the default of `timeoutMs` is %p, and a timeout as long as the lease is refused',
    (leaseMs, timeoutMs) => {
      const options = { redis: 'redis://nowhere', leaseMs, durability: { replicas: 1 } }
      expect(resolveOptions(options).durability?.timeoutMs).toBe(timeoutMs)
      const given = { ...options, durability: { replicas: 1, timeoutMs: leaseMs } }
      expect(() => resolveOptions(given)).toThrow(`at most ${leaseMs - 1}; got ${leaseMs}`)
    },
  )

  test('durability that is not an object, or has unknown options, is refused', () => {
    expect(refused({ durability: 2 })).toThrow(
      'must be an object with `replicas`, `timeoutMs` or `fsync`; got 2',
    )
    expect(refused({ durability: null })).toThrow('got null')
    expect(refused({ durability: { replicas: 1, replica: 2 } })).toThrow('no option `replica` here')
    expect(refused({ durability: { replicas: 1, fsync: 'yes' } })).toThrow('got "yes"')
    expect(refused({ durability: { replicas: -1, fsync: true } })).toThrow('got -1')
  })

  test('durability is refused in memory, because memory has no replica', () => {
    const options = { durability: { replicas: 1 } } as object
    expect(() => createMemoryServer().newClient(options)).toThrow('no option `durability` here')
  })

  test('durability is refused together with `masters`, for a RedLock, and for a part of a RedLock', () => {
    const masters = ['redis://127.0.0.1:1']
    const both = refused({ redis: undefined, masters, durability: { replicas: 1 } })
    expect(both).toThrow('`durability` cannot be combined with `masters`: a majority of them holds')
    const durable = rig.client({ replicas: 1 })
    const plain = rig.witness()
    const lockOf = (client: Holdfast) => client.getLock('it')
    expect(() => durable.getRedLock(lockOf(plain))).toThrow('with `durability` is not supported')
    expect(() => plain.getRedLock(lockOf(durable))).toThrow(
      '"it" belongs to a client with `durability`',
    )
  })
})
