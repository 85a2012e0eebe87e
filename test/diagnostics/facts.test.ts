import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AcquireFact, ClosedError, type Holdfast } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { Recorder, wrongSteps } from './recorder.ts'

let server: MemoryServer
let one: Holdfast
let two: Holdfast
let told: Recorder

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  one = server.newClient({ label: 'first' })
  two = server.newClient()
  told = new Recorder()
})
afterEach(async () => {
  server.endOutage()
  await Promise.all([one.close(), two.close()])
  told.stop()
})

test('an acquisition that waits, its hold and its release emit one fact each, from begin to end', async () => {
  const other = await server.hold('it')
  const lock = one.getLock('it')
  const { result, facts } = told.as(() => lock.lock(60_000))
  await server.advance(1_500)
  expect(facts).toEqual([
    {
      client: one.id,
      label: 'first',
      name: 'it',
      kind: 'lock',
      notes: expect.anything(),
      waitMs: Infinity,
      leaseMs: 60_000,
      holder: other.owner,
    },
  ])
  await other.release()
  await server.advance(0)
  const lease = await result
  const [acquire] = facts
  expect(acquire).toMatchObject({ outcome: 'granted', path: 'raced', token: lease.token })
  expect(acquire).toMatchObject({ owner: lease.owner })
  expect(acquire?.waitedMs).toBeCloseTo(1_500)
  const hold = told.of('hold').find((one) => one.acquire === acquire)
  expect(hold).toEqual({
    client: one.id,
    label: 'first',
    name: 'it',
    kind: 'lock',
    notes: expect.anything(),
    owner: lease.owner,
    token: lease.token,
    leaseMs: 60_000,
    limitMs: 60_000,
    acquire,
  })
  await server.advance(700)
  await lease.release()
  expect(hold?.outcome).toBe('released')
  expect(hold?.heldMs).toBeCloseTo(700)
  expect(told.of('release').at(-1)).toMatchObject({ token: lease.token, outcome: 'freed' })
  expect(wrongSteps(told)).toEqual([])
})

test('a fact names the holder as soon as the client knows the holder', async () => {
  const first = await one.getLock('it').lock()
  const { result, facts } = told.as(() => one.getLock('it').lock())
  await server.advance(0)
  expect(facts[0]?.holder).toBe(first.owner)
  expect(facts[0]?.outcome).toBeUndefined()
  await first.release()
  await (await result).release()
})

test('a hold has its latest end: its lease, its `maxHoldMs`, or none', async () => {
  const lock = one.getLock('it')
  await lock.using(() => {})
  await lock.using(() => {}, { leaseMs: 700 })
  await lock.using(() => {}, { maxHoldMs: 90_000 })
  const quota = one.getPermitExpirableSemaphore('quota')
  await quota.trySetPermits(1)
  await quota.using(() => {}, { leaseMs: 800 })
  expect(told.of('hold').map(({ leaseMs, limitMs }) => [leaseMs, limitMs])).toEqual([
    [30_000, Infinity],
    [700, 700],
    [30_000, 90_000],
    [800, 800],
  ])
})

test('each fact has its kind, and each acquisition has its path', async () => {
  const readWrite = one.getReadWriteLock('rw')
  const quota = one.getPermitExpirableSemaphore('quota')
  const slots = one.getSemaphore('slots')
  await quota.trySetPermits(1)
  await slots.trySetPermits(1)
  for (const lock of [one.getLock('plain'), one.getFairLock('fair')]) {
    await lock.using(() => lock.using(() => {}))
  }
  await readWrite.readLock().using(() => {})
  await readWrite.upgradableLock().using(() => {})
  await readWrite.writeLock().using(() => {})
  await quota.using(() => {})
  await slots.using(() => {})
  expect(told.of('acquire').map(({ kind, path }) => [kind, path])).toEqual([
    ['lock', 'free'],
    ['lock', 'reentered'],
    ['fair', 'free'],
    ['fair', 'reentered'],
    ['read', 'free'],
    ['upgradable', 'free'],
    ['write', 'free'],
    ['permits', 'free'],
    ['semaphore', 'free'],
  ])
  // Permits without a lease have no owner.
  expect(told.of('acquire').at(-1)?.leaseMs).toBe(Infinity)
  const held = ['lock', 'fair', 'read', 'upgradable', 'write', 'permits']
  expect(told.of('hold').map(({ kind, outcome }) => [kind, outcome])).toEqual(
    held.map((kind) => [kind, 'released']),
  )
  expect(told.of('release').map(({ kind, outcome }) => [kind, outcome])).toEqual(
    held.map((kind) => [kind, 'freed']),
  )
  expect(wrongSteps(told)).toEqual([])
})

test.each(['getLock', 'getFairLock'] as const)(
  'a waiter with %s in the same client acquires the lock by a local path',
  async (form) => {
    const lease = await one[form]('it').lock()
    const next = one[form]('it').lock()
    await server.advance(10)
    await lease.release()
    await server.advance(10)
    await (await next).release()
    expect(told.of('acquire').map(({ path }) => path)).toEqual(['free', 'local'])
    // A hand-over inside the client is no release for other clients. A fair lock is handed over by the server.
    const inside = form === 'getLock' ? 'local' : 'freed'
    expect(told.of('release').map(({ outcome }) => outcome)).toEqual([inside, 'freed'])
  },
)

test('a waiter of a fair lock acquires the lock by a grant when another client releases it', async () => {
  const lease = await one.getFairLock('it').lock()
  const next = two.getFairLock('it').lock()
  await server.advance(10)
  await lease.release()
  await server.advance(10)
  await (await next).release()
  expect(told.of('acquire').map(({ path }) => path)).toEqual(['free', 'granted'])
})

test('failed acquisitions have separate outcomes: timeout, aborted, outage and closed', async () => {
  const other = await server.hold('it')
  const lock = one.getLock('it')
  const abort = new AbortController()
  const waits = [
    lock.tryLock(),
    lock.tryLock({ waitMs: 100 }),
    lock.lock({ signal: abort.signal }),
    two.getLock('else').lock(),
    lock.lock(),
  ].map((pending) => pending.then(String, (error: Error) => error.name))
  await server.advance(200)
  abort.abort()
  await one.close()
  server.beginOutage()
  const out = two.getLock('third').lock()
  const failed = out.catch((error: Error) => error.name)
  await server.advance(60_000)
  expect(await failed).toBe('RedisUnavailableError')
  server.endOutage()
  await Promise.all(waits)
  const outcomes = told.of('acquire').map(({ outcome, path }) => [outcome, path])
  expect(outcomes).toEqual([
    ['granted', 'free'],
    ['timeout', undefined],
    ['timeout', undefined],
    ['aborted', undefined],
    ['granted', 'free'],
    ['closed', undefined],
    ['outage', undefined],
  ])
  const aborted = told.of('acquire')[3]
  expect(aborted?.error).toBe(abort.signal.reason)
  await other.release()
})

test('a loss has its reason and the time that the lock was held', async () => {
  const expired = await one.getLock('expired').lock(1_000)
  const gone = await one.getLock('gone').lock()
  const forced = one.getLock('forced')
  await forced.lock()
  const closed = await one.getLock('closed').lock()
  server.lose(gone)
  await forced.forceUnlock()
  await server.advance(1_000)
  await one.close()
  const outcomes = told.of('hold').map(({ name, outcome }) => [name, outcome])
  expect(outcomes).toEqual([
    ['expired', 'expired'],
    ['gone', 'gone'],
    ['forced', 'forced'],
    ['closed', 'closed'],
  ])
  const holds = told.of('hold')
  expect(holds[0]).toMatchObject({ error: expired.signal.reason })
  expect(holds[0]?.heldMs).toBeLessThan(1_000)
  expect(holds[0]?.stalledMs).toBeUndefined()
  expect(holds[1]).toMatchObject({ error: gone.signal.reason })
  expect(holds[1]?.heldMs).toBeCloseTo(0)
  expect([closed.signal.aborted, holds[3]?.error]).toEqual([true, undefined])
  expect(wrongSteps(told)).toEqual([])
})

test('a release that finds no hold has the outcome "gone", and its hold is lost', async () => {
  const lease = await one.getLock('it').lock(10_000)
  await two.getLock('it').forceUnlock()
  expect(await lease.release()).toBe(false)
  expect(told.of('release').map(({ outcome }) => outcome)).toEqual(['gone'])
  expect(told.of('hold').map(({ outcome }) => outcome)).toEqual(['gone'])
})

test('a release without a confirmation is unknown, and is reported when it is settled', async () => {
  const lease = await one.getLock('it').lock()
  server.beginOutage()
  const failed = lease.release().catch((error: Error) => error)
  await server.advance(20_000)
  const error = await failed
  expect(told.of('release')).toEqual([expect.objectContaining({ outcome: 'unknown', error })])
  expect(told.of('hold').map(({ outcome }) => outcome)).toEqual(['released'])
  expect(told.settled).toEqual([])
  server.endOutage()
  await server.advance(5_000)
  expect(told.settled).toMatchObject([{ client: one.id, label: 'first', key: 'it' }])
  expect(told.settled[0]?.unknownMs).toBeGreaterThan(0)
})

test('a subscriber can bind a store to the call, and the store does not reach the caller', async () => {
  const spans = new AsyncLocalStorage<string>()
  const acquireTrace = tracingChannel<unknown, AcquireFact>('holdfast:acquire')
  acquireTrace.start.bindStore(spans, ({ name }) => `span of ${name}`)
  try {
    const seen: (string | undefined)[] = []
    const hear = () => seen.push(spans.getStore())
    acquireTrace.end.subscribe(hear)
    await spans.run('request', async () => {
      const lock = one.getLock('it')
      const locking = lock.lock()
      seen.push(spans.getStore())
      await locking
      seen.push(spans.getStore())
    })
    acquireTrace.end.unsubscribe(hear)
    expect(seen).toEqual(['span of it', 'request', 'request'])
  } finally {
    acquireTrace.start.unbindStore(spans)
  }
})

test('a subscriber that comes during a wait receives nothing about that wait', async () => {
  told.stop()
  const lease = await one.getLock('it').lock()
  const waiting = one.getLock('it').lock()
  await server.advance(10)
  const late = new Recorder()
  await lease.release()
  await (await waiting).release()
  late.stop()
  expect(late.of('acquire')).toEqual([])
  expect(late.open).toEqual([])
})

test('no fact is made if nothing subscribes: all acts share one observation that does nothing', async () => {
  told.stop()
  const lock = one.getLock('it')
  const lease = await lock.lock()
  // A late subscriber receives the end of each fact that was made.
  const late = new Recorder()
  await lease.release()
  late.stop()
  expect(late.of('release')).toHaveLength(1)
  expect(late.of('hold')).toEqual([])
  expect(told.steps.size).toBe(0)
})

test('a subscriber that closes the client during a fact of a hold breaks nothing', async () => {
  const hear = () => void one.close()
  for (const name of ['acquire:asyncEnd', 'hold:start'] as const) {
    one = server.newClient()
    subscribe(`tracing:holdfast:${name}`, hear)
    const lease = await one.getLock(name).lock()
    unsubscribe(`tracing:holdfast:${name}`, hear)
    expect(lease.signal.aborted).toBe(true)
    await nextTurn()
  }
  expect(told.of('hold').map(({ outcome }) => outcome)).toEqual(['closed', 'closed'])
  expect(wrongSteps(told)).toEqual([])
})

test('a subscriber that aborts the call at its start ends the call', async () => {
  const held = await two.getLock('it').lock()
  const abort = new AbortController()
  const hear = () => abort.abort()
  subscribe('tracing:holdfast:acquire:start', hear)
  const asked = one.getLock('it').lock({ signal: abort.signal })
  unsubscribe('tracing:holdfast:acquire:start', hear)
  await expect(asked).rejects.toBe(abort.signal.reason)
  expect(told.of('acquire').at(-1)).toMatchObject({ outcome: 'aborted' })
  await held.release()
  expect(wrongSteps(told)).toEqual([])
})

test('a subscriber that closes the client at the start of a call leaves no hold', async () => {
  const hear = () => void one.close()
  subscribe('tracing:holdfast:acquire:start', hear)
  const asked = one.getLock('it').lock()
  unsubscribe('tracing:holdfast:acquire:start', hear)
  await expect(asked).rejects.toBeInstanceOf(ClosedError)
  await one.close()
  expect(await (await two.getLock('it').tryLock())?.release()).toBe(true)
  expect(wrongSteps(told)).toEqual([])
})

test('each part of a MultiLock emits its own facts', async () => {
  const lease = await one.getMultiLock(one.getLock('a'), one.getLock('b')).lock()
  await lease.release()
  expect(
    told
      .of('acquire')
      .map(({ name, outcome }) => `${name} ${outcome}`)
      .sort(),
  ).toEqual(['a granted', 'b granted'])
  expect(
    told
      .of('hold')
      .map(({ name, outcome }) => `${name} ${outcome}`)
      .sort(),
  ).toEqual(['a released', 'b released'])
})

test('the leader of an election emits facts of its fair lock', async () => {
  const election = one.getLeaderElection('billing')
  await election.lead(() => election.resign()).catch(() => {})
  const acquires: readonly AcquireFact[] = told.of('acquire')
  expect(acquires.map(({ kind, name }) => `${kind} ${name}`)).toContain('fair billing')
})
