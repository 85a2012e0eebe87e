import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/kit/clock.ts'
import type { Hint } from '../../src/servers/hint.ts'
import { LATCH } from '../../src/servers/latch-server.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { OnceRequest } from '../../src/servers/once-request.ts'
import { permitsOf } from '../../src/servers/owner-id.ts'
import { permitIds } from '../../src/servers/permit-ids.ts'
import type { PermitAnswer } from '../../src/servers/permit-pool.ts'
import { PERMITS } from '../../src/servers/permit-server.ts'
import { READ_WRITE } from '../../src/servers/read-write-server.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { promised, type Reply } from '../../src/servers/reply.ts'
import { SEMAPHORE } from '../../src/servers/semaphore-server.ts'
import { eventually } from '../support/eventually.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { sharedServer } from '../support/redis-server.ts'
import { verbsOf } from '../support/verbs.ts'

/** Steps that random sequences rarely reach, on a Redis server and in memory. */
const redis = sharedServer()
const CALL_MS = 5_000
const LEASE_MS = 60_000

let servers: LockServer[]

afterEach(async () => {
  for (const server of servers) server.disconnect()
  await redis.flush()
})

const places: [string, () => () => LockServer][] = [
  [
    'Redis',
    () => {
      const { host, port } = redis
      const options = { counterMs: LEASE_MS, kinds: redisKinds }
      return () => new RedisServer({ host, port }, CALL_MS, () => {}, options)
    },
  ],
  [
    'the server in memory',
    () => {
      const memory = new CountingServer()
      return () => new MemoryConnection(memory, LEASE_MS)
    },
  ],
]

describe.each(places)('requests to %s', (_, newPlace) => {
  /** Makes three clients. */
  beforeEach(async () => {
    const newServer = newPlace()
    servers = ['a', 'b', 'c'].map(newServer)
    await Promise.all(servers.map((server) => server.identify(CALL_MS)))
  })

  /** Returns the client of an owner, by the first letter of its name. */
  const clientOf = (owner: string) => servers['abc'.indexOf(owner[0] as string)] as LockServer
  const idOf = (owner: string) => owner[0] as string
  const ask = <A>(send: (reply: Reply<A>) => void) => promised<A>(send)

  test('a hand-over keeps the lock in the client if the server counts no listener at all', async () => {
    const verbs = verbsOf(clientOf('a').lock('it'))
    const terms = { leaseMs: LEASE_MS, reserve: 0, callMs: CALL_MS }
    const { token } = (await verbs.acquire({ owner: 'a:1', ...terms })) as { token: number }
    // The client believes that it listens, but the server has no subscription.
    const passing = { mayFree: 'always', listens: true, ...terms } as const
    const to = { owner: 'a:2', leaseMs: LEASE_MS }
    expect(await verbs.handOver({ ...passing, from: { owner: 'a:1', token }, to })).toMatchObject({
      kind: 'granted',
    })
  })

  describe('a read-write lock', () => {
    const lockOf = (owner: string) => {
      return requestsOfKind(clientOf(owner), READ_WRITE, idOf(owner)).lock('it')
    }
    const terms = { leaseMs: LEASE_MS, reserve: 0, callMs: CALL_MS, waits: true, isLast: true }
    const read = (owner: string, given = {}) =>
      ask((reply) => lockOf(owner).read({ ...terms, beside: '', ...given, owner }, reply))
    const write = (owner: string, given = {}) =>
      ask((reply) => lockOf(owner).write({ ...terms, beside: '', ...given, owner }, reply))
    const release = (
      owner: string,
      { token = '' as number | '', holds = 0, isLast = false } = {},
    ) =>
      ask((reply) => lockOf(owner).lower({ owner, holds, token, callMs: CALL_MS }, isLast, reply))
    const inspect = () => lockOf('a').inspect(CALL_MS)

    test('a released write lock goes to waiting readers first, and then to writers in their order', async () => {
      const hints: Hint[] = []
      const subscription = lockOf('a').listen((hint) => hints.push(hint))
      await eventually(() => subscription.confirmed)
      const tryOnce = { waits: false }
      expect(await write('a:1:write')).toMatchObject({ kind: 'granted' })
      expect(await read('b:1')).toMatchObject({ kind: 'held' })
      const waiting = (await write('c:1:write')) as { kind: string; waitId: string }
      expect(waiting.kind).toBe('held')
      await release('a:1:write')
      expect(await write('c:1:write')).toMatchObject({ kind: 'held' })
      expect(await read('b:1')).toMatchObject({ kind: 'granted' })
      expect((await inspect()).waitingToRead).toEqual([])
      await release('b:1')
      expect(await write('a:3:write', tryOnce)).toMatchObject({ kind: 'held' })
      expect(await read('a:3', tryOnce)).toMatchObject({ kind: 'held' })
      expect(await write('c:1:write')).toMatchObject({ kind: 'granted' })
      await eventually(() =>
        hints.some((hint) => hint.kind === 'turn' && hint.of === waiting.waitId),
      )
      expect(hints.filter(({ kind }) => kind !== 'missed')).toEqual([
        { kind: 'released', by: 'writer', isForAll: false },
        { kind: 'turn', of: 'readers' },
        { kind: 'released', by: 'reader', isForAll: false },
        { kind: 'turn', of: waiting.waitId },
      ])
    })

    test('a write lock is re-entered and released only with the token of its hold', async () => {
      const owner = 'a:1:write'
      const reenter = (token: number) =>
        ask((reply) =>
          lockOf(owner).rewrites(
            { owner, token, holds: 2, leaseMs: LEASE_MS, callMs: CALL_MS },
            reply,
          ),
        )
      const { token } = (await write(owner)) as { token: number }
      await release(owner, { token })
      const later = (await write(owner)) as { token: number }
      expect(later.token).toBeGreaterThan(token)
      expect(await reenter(token)).toEqual({ kind: 'gone' })
      expect(await release(owner, { token })).toEqual({ kind: 'gone' })
      expect(await reenter(later.token)).toMatchObject({ kind: 'granted' })
      expect((await inspect()).holders).toMatchObject([{ owner, holdCount: 2 }])
      expect(await release(owner, { token: later.token })).toMatchObject({ kind: 'freed' })
    })

    test('a nested release lowers the count, and never raises it', async () => {
      await read('a:1')
      const reentry = { owner: 'a:1', token: 0, holds: 3, leaseMs: LEASE_MS, callMs: CALL_MS }
      await ask((reply) => lockOf('a').rereads(reentry, reply))
      for (const holds of [2, 3]) expect(await release('a:1', { holds })).toEqual({ kind: 'kept' })
      expect((await inspect()).holders).toMatchObject([{ owner: 'a:1', holdCount: 2 }])
    })

    test('a writer that also reads continues to read after it stops writing', async () => {
      await write('a:1:write')
      await read('a:2', { beside: 'a:1:write' })
      await release('a:1:write')
      expect((await inspect()).mode).toBe('read')
      expect(await read('b:1')).toMatchObject({ kind: 'granted' })
    })

    test('one owner at a time holds the upgradable lock, and may upgrade it', async () => {
      expect(await read('a:1:upgradable')).toMatchObject({ kind: 'granted' })
      expect(await read('b:1:upgradable')).toMatchObject({ kind: 'held' })
      await read('c:1', { leaseMs: 40 })
      await pause(60)
      const upgrade = { beside: 'a:1:upgradable' }
      expect(await write('a:2:write', upgrade)).toMatchObject({ kind: 'granted' })
      await release('a:2:write')
      await release('a:1:upgradable')
      expect(await read('b:1:upgradable')).toMatchObject({ kind: 'granted' })
    })

    test('a read lock lasts for the longest remaining lease, and is free when all leases have ended', async () => {
      const tryOnce = { waits: false }
      await read('a:1')
      await read('b:1', { leaseMs: 5_000 })
      await read('b:2', { leaseMs: 40 })
      await release('a:1')
      const refused = (await write('c:1:write', tryOnce)) as { ttlMs: number }
      expect(refused.ttlMs).toBeGreaterThan(1_000)
      expect(refused.ttlMs).toBeLessThanOrEqual(5_000)
      await pause(60)
      await release('b:1')
      expect(await write('c:1:write', tryOnce)).toMatchObject({ kind: 'granted' })
    })

    test('readers beside a writer do not change the lease of the writer', async () => {
      const beside = 'a:1:write'
      await write('a:1:write')
      await read('a:2', { beside, leaseMs: 40 })
      await read('a:3', { beside, leaseMs: 5_000 })
      await pause(60)
      expect(await read('a:2', { beside, leaseMs: 5_000 })).toMatchObject({ kind: 'granted' })
      const refused = (await write('b:1:write')) as { ttlMs: number }
      expect(refused.ttlMs).toBeGreaterThan(LEASE_MS / 2)
    })
  })

  describe('a semaphore', () => {
    const semaphoreOf = (owner: string) => {
      return requestsOfKind(clientOf(owner), SEMAPHORE, idOf(owner)).semaphore('it')
    }
    const terms = { leaseMs: LEASE_MS, reserve: 0, callMs: CALL_MS, waits: true, isLast: true }
    const acquire = (owner: string, given = {}) => {
      const permits = permitsOf(owner)
      const begun = { beganAt: systemClock.monotonic(), waitId: '' }
      const attempt = { ...terms, ...begun, ...given, owner, permits }
      return ask<PermitAnswer>((reply) => semaphoreOf(owner).acquire(attempt, reply))
    }
    const release = (owner: string, isLast: boolean) =>
      ask((reply) =>
        semaphoreOf(owner).giveBack({ owner, holds: 0, token: '', callMs: CALL_MS }, isLast, reply),
      )
    let requests = 0
    const change = (what: 'set' | 'add' | 'drain' | 'delete', permits = 0) => {
      requests += 1
      return semaphoreOf('a').change({ id: `a:${requests}`, what, permits, ttlMs: 0 }, CALL_MS)
    }
    const available = async () => (await semaphoreOf('a').inspect(10, CALL_MS)).available
    /** Counts how often the client receives a message that it is next. */
    const listen = async (client: string) => {
      const told = { times: 0 }
      const subscription = semaphoreOf(client).listen(({ kind }) => {
        if (kind === 'turn') told.times += 1
      })
      await eventually(() => subscription.confirmed)
      return told
    }

    test('a release does not create a deleted semaphore again', async () => {
      await change('set', 2)
      await acquire('b:101:2')
      await change('delete')
      expect(await release('b:101:2', true)).toEqual({ kind: 'gone' })
      expect((await semaphoreOf('a').inspect(10, CALL_MS)).isSet).toBe(false)
    })

    test('a late copy of an abandoned request gets no permits', async () => {
      await change('set', 1)
      await acquire('b:101:1')
      const untilMs = systemClock.monotonic() + LEASE_MS
      semaphoreOf('b:101:1').abandon('b:101:1', untilMs, LEASE_MS, () => true)
      await eventually(async () => (await available()) === 1)
      expect(await acquire('b:101:1', { waits: false })).toMatchObject({ kind: 'held' })
      expect(await available()).toBe(1)
    })

    test('a drain removes nothing if fewer than zero permits are free', async () => {
      await change('add', -2)
      expect(await change('drain')).toBe(0)
      expect(await available()).toBe(-2)
    })

    test('the next client is woken when the first waiter leaves', async () => {
      const told = await listen('c')
      await change('set', 1)
      expect(await acquire('b:101:3', { waitId: '970' })).toMatchObject({ kind: 'held' })
      expect(await acquire('c:101:1', { waitId: '980' })).toMatchObject({ kind: 'held' })
      await release('b:101:3', true)
      await eventually(() => told.times === 1)
      expect(await acquire('c:101:1', { waitId: '980' })).toMatchObject({ kind: 'granted' })
    })

    test('a client that was served does not pass its place to a waiter that came after another client', async () => {
      const told = await listen('c')
      await change('set', 0)
      await acquire('b:101:1', { waitId: '970' })
      await acquire('c:101:1', { waitId: '980' })
      await change('add', 2)
      const goesOn = { waitId: '970', isLast: false }
      expect(await acquire('b:101:1', goesOn)).toMatchObject({ kind: 'granted' })
      expect(told.times).toBe(0)
      expect(await acquire('b:102:1', { waitId: '990' })).toMatchObject({ kind: 'held' })
      await eventually(() => told.times === 1)
      expect(await acquire('c:101:1', { waitId: '980' })).toMatchObject({ kind: 'granted' })
    })

    test('a hand-over gives the permit to the first waiter of the client, or wakes a client that waits longer', async () => {
      const told = await listen('c')
      await change('set', 1)
      await acquire('b:101:1')
      await acquire('b:102:1', { waitId: '970' })
      const handOver = (id: string, owner: string, given: object) => {
        const attempt = { ...terms, beganAt: 0, waitId: '', ...given, owner, permits: 1 }
        const addition = { id, permits: 1, ifExists: true }
        let added: Promise<boolean> | undefined
        const acquired = ask<PermitAnswer>((reply) => {
          added = semaphoreOf(owner).addAndAcquire(addition, attempt, reply)
        })
        return Promise.all([added, acquired])
      }
      const behind = { permits: 1, beganAt: systemClock.monotonic() }
      const first = { waitId: '970', isLast: false, behind }
      const [added, answer] = await handOver('b:1', 'b:102:1', first)
      expect(added).toBe(true)
      expect(answer).toMatchObject({ kind: 'granted', behind: { isFirst: true } })
      expect(await available()).toBe(0)
      await acquire('c:101:1', { waitId: '980' })
      expect(told.times).toBe(0)
      const second = await handOver('b:2', 'b:103:1', { waitId: '990' })
      expect(second).toMatchObject([true, { kind: 'held' }])
      await eventually(() => told.times === 1)
      expect(await acquire('c:101:1', { waitId: '980' })).toMatchObject({ kind: 'granted' })
    })
  })

  describe('a semaphore with leases', () => {
    const permitsOfA = () => requestsOfKind(clientOf('a'), PERMITS, 'a')
    const pool = () => permitsOfA().pool('it')
    const acquire = (owner: string, given = {}) => {
      const terms = { leaseMs: LEASE_MS, reserve: 0, callMs: CALL_MS, waits: false, isLast: true }
      const begun = { beganAt: systemClock.monotonic(), waitId: '' }
      const attempt = { ...terms, ...begun, ...given, owner, permits: permitsOf(owner) }
      return ask<PermitAnswer>((reply) => pool().acquire(attempt, reply))
    }
    const renew = (...owners: string[]) => {
      const leases = owners.map((ownerId) => ({ rawName: 'it', ownerId }))
      return permitsOfA().renew(leases, LEASE_MS, CALL_MS)
    }
    let requests = 0
    const remembered = () => {
      requests += 1
      return { request: `a:${requests}`, keptMs: LEASE_MS }
    }
    const change = (how: 'set' | 'add', permits: number) =>
      pool().change({ how, permits, ...remembered() }, CALL_MS)

    test('after a release by id, the owner loses its permits, and each permit is freed once', async () => {
      const owner = 'a:101:2'
      const counts = async () => {
        const { available, taken } = await pool().inspect(10, CALL_MS)
        return [available, taken]
      }
      await change('set', 3)
      await acquire(owner)
      const [id] = permitIds(owner, 2) as [string]
      expect(await pool().releaseIds([id], remembered(), CALL_MS)).toBe(true)
      expect(await pool().releaseIds([id], remembered(), CALL_MS)).toBe(false)
      expect(await counts()).toEqual([2, 1])
      expect(await renew(owner)).toEqual(['gone'])
      const ending = { owner, holds: 0, token: '', callMs: CALL_MS } as const
      expect(await ask((reply) => pool().giveBack(ending, true, reply))).toEqual({ kind: 'gone' })
      expect(await counts()).toEqual([3, 0])
    })

    test('permits whose leases end together are listed in the order of their ids', async () => {
      const idsOf = (owner: string) => permitIds(owner, permitsOf(owner))
      const first = (owner: string) => idsOf(owner)[0] as string
      const owners = ['a:101:2', 'a:102:2', 'a:103:2', 'a:104:2']
      const byId = [...owners].sort((a, b) => (first(a) < first(b) ? -1 : 1))
      await change('set', 8)
      for (const owner of [...byId].reverse()) await acquire(owner)
      await renew(...owners)
      const { acquired } = await pool().inspect(5, CALL_MS)
      expect(acquired.map(({ id }) => id)).toEqual(byId.flatMap(idsOf).slice(0, 5))
      const refused = await acquire('a:105:1', { waits: true })
      const holders = refused.kind === 'held' ? refused.seen.holders : []
      expect(holders.map(({ owner }) => owner)).toEqual(byId.slice(0, 2))
    })

    test('an acquisition that runs again reports the total, even if the total is now 0 or less', async () => {
      const owner = 'a:101:1'
      await change('set', 2)
      for (const inAll of [2, 0, -2]) {
        const again = await acquire(owner, { limit: 4 })
        expect(again).toEqual({ kind: 'granted', token: expect.any(Number), inAll })
        await change('add', -2)
      }
    })
  })

  test('a latch publishes a message when its round begins and when it opens', async () => {
    const latch = requestsOfKind(clientOf('a'), LATCH)('it')
    let told = 0
    const subscription = latch.listen(() => {
      told += 1
    })
    await eventually(() => subscription.confirmed)
    // After the subscription, the listener may be called once.
    await pause(20)
    const tells = async (step: Promise<unknown>) => {
      const before = told
      await step
      await eventually(() => told > before)
    }
    const request = (n: number) => new OnceRequest(`a:${n}`, LEASE_MS, systemClock)
    await tells(latch.trySetCount(1, request(1), CALL_MS))
    await tells(latch.countDown(request(2), CALL_MS))
  })
})
