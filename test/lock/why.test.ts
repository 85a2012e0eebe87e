import { setTimeout as pause } from 'node:timers/promises'
import { nanoid } from 'nanoid'
import { RedisUnavailableError, WaitTimeoutError } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { warm } from '../support/warm.ts'

const rig = faultRig()
/** With these times, no request is repeated because an answer is late. */
const PATIENT = { commandTimeoutMs: 5_000, outageMs: 20_000 }
const reads = () => rig.proxy.count(({ command }) => command === 'HGET')
const others = () => rig.proxy.requests.length

/** Writes a lock of a client in another process into Redis. Returns the owner. */
async function heldElsewhere(
  name: string,
  about: object | string | null = {
    label: 'billing',
    host: 'vm-7',
    pid: 4711,
    version: '0.1.0',
    startedAt: 1,
  },
  ageMs = 0,
): Promise<string> {
  const { admin } = rig.server
  const client = nanoid()
  const [s = 0, us = 0] = (await admin.time()).map(Number)
  const token = s * 1_000_000 + us - ageMs * 1_000
  await admin.hset(name, `${client}:1`, '1')
  await admin.pexpire(name, 30_000)
  await admin.set(`redisson_lock_token:{${name}}`, String(token), 'PX', 60_000)
  const text = typeof about === 'string' ? about : JSON.stringify(about)
  if (about !== null) await admin.hset(`holdfast_client:{${client}}`, 'about', text)
  await admin.pexpire(`holdfast_client:{${client}}`, 60_000)
  atEnd(() => admin.del(name, `holdfast_client:{${client}}`), { beforeCheck: true })
  return `${client}:1`
}

test('after `tryLock()` returned null, `why()` names the holder with one request for its process', async () => {
  const client = rig.client(PATIENT)
  const holder = await heldElsewhere('it')
  const lock = client.getLock('it')
  const from = Date.now()
  await pause(100)
  expect(await lock.tryLock()).toBeNull()
  const before = others()
  const why = await lock.why()
  expect(why).toMatchObject({
    name: 'it',
    outcome: 'held',
    holder,
    process: { client: holder.slice(0, 21), label: 'billing', host: 'vm-7', pid: 4711 },
    queuePosition: null,
  })
  expect(why.ageMs).toBeGreaterThanOrEqual(50)
  expect(why.ageMs).toBeLessThan(20_000)
  expect(why.ttlMs).toBeGreaterThan(10_000)
  // The clock of the client and `Date.now()` may differ by some milliseconds.
  expect(why.at).toBeGreaterThan(from)
  expect(why.at).toBeLessThan(Date.now() + 50)
  expect(why.text).toMatch(
    /^Lock "it" is held by billing \(vm-7:4711\), as \S+, for \d+ m?s, and \d+ s are left of its lease\.$/,
  )
  expect(others() - before).toBe(1)
  expect(reads()).toBe(1)
  // Now the client knows the process of the holder.
  await client.getLock('it').tryLock()
  expect(await lock.why()).toMatchObject({ process: { label: 'billing' } })
  expect(reads()).toBe(1)
})

test('`why()` says that a holder with `keepMs` may not use the lock', async () => {
  const keeper = rig.client({ ...PATIENT, keepMs: 60_000 })
  const lock = keeper.getLock('it')
  // A client keeps no lock before it listens to the requests of other clients.
  await eventually(async () => {
    await lock.using(() => {})
    return lock.isLocked()
  })
  expect((await rig.client(PATIENT).getLock('it').why()).text).toMatch(
    /^Lock "it" is held by another client .+\. The client of this holder keeps the lock after a release \(keepMs\), so the lock may not be in use\.$/,
  )
})

test('`why()` without an attempt requests the holder, and does not know the age of the hold', async () => {
  const holder = await heldElsewhere('it')
  const why = await rig.client().getLock('it').why()
  expect(why).toMatchObject({ outcome: 'held', holder, ageMs: null, process: { pid: 4711 } })
  expect(why.text).toMatch(
    /^Lock "it" is held by billing \(vm-7:4711\), as [^ ,]+, and \d+ s are left of its lease\.$/,
  )
})

test('`inspect()` gives the age of a hold, and not for a free lock or a holder of Redisson', async () => {
  const lock = rig.client().getLock('it')
  await heldElsewhere('it', null, 100_000)
  const { ageMs } = await lock.inspect()
  expect(ageMs).toBeGreaterThanOrEqual(100_000)
  expect(ageMs).toBeLessThan(120_000)
  const { admin } = rig.server
  await admin.del('it')
  expect(await lock.inspect()).toMatchObject({ holder: null, ageMs: null })
  const java = 'e7b8c7a2-0d6a-4f58-9e7a-3f1f0c9a2b11:42'
  await admin.hset('it', java, '1')
  expect(await lock.inspect()).toMatchObject({ holder: java, ageMs: null })
})

test('the process of a holder is requested once, and is in the error at the end of the wait', async () => {
  const client = rig.client(PATIENT)
  const holder = await heldElsewhere('it')
  await warm(client)
  for (const waits of [1, 2]) {
    const waiting = client.getLock('it').lock({ waitMs: 1_000 })
    await eventually(() => reads() === 1, { message: `the question in wait ${waits}` })
    const error = await waiting.catch((one) => one)
    expect(error.message).toContain(`It is held by billing (vm-7:4711), as ${holder}, for `)
    expect(error.why.process).toMatchObject({ label: 'billing', pid: 4711 })
  }
  expect(reads()).toBe(1)
})

test('a wait does not wait for the process of the holder', async () => {
  const client = rig.client()
  const holder = await heldElsewhere('it')
  const question = rig.proxy.onNextRequest('HGET', 'holdReply')
  const error = await client
    .getLock('it')
    .lock({ waitMs: 1_200 })
    .catch((one) => one)
  expect(error).toBeInstanceOf(WaitTimeoutError)
  expect(error.message).toContain(`It is held by ${holder} for`)
  await question.seen
  question.release()
})

test('a holder without a client note is requested once for all waits', async () => {
  const client = rig.client(PATIENT)
  await heldElsewhere('it', null)
  await warm(client)
  for (let i = 0; i < 3; i++) expect(await client.getLock('it').tryLock(600)).toBeNull()
  expect(reads()).toBe(1)
})

test('the error of a wait has the age of the hold at the end of the wait', async () => {
  const client = rig.client()
  await heldElsewhere('it', undefined, 5_000)
  const from = Date.now()
  const error = await client
    .getLock('it')
    .lock({ waitMs: 2_500 })
    .catch((one) => one)
  expect(error.why.ageMs).toBeGreaterThan(7_000)
  expect(error.message).toMatch(
    /for \d+ s, and (at least )?2\d s are left of its lease\. Try again/,
  )
  // Redis counts the lease in whole milliseconds, and the wall clock may be adjusted meanwhile.
  expect(error.why.ttlMs).toBeLessThanOrEqual(27_600)
  // The time of the wait's end, by the clock of this process.
  expect(error.why.at).toBeGreaterThanOrEqual(from + 2_400)
  expect(error.why.at).toBeLessThan(Date.now() + 50)
})

test('`why()` says how long ago it last saw the holder', async () => {
  const client = rig.client()
  await heldElsewhere('it')
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  await pause(1_100) // After a second, the text uses the past tense.
  expect((await lock.why()).text).toMatch(
    /^Lock "it" was held by billing .* for \d+ m?s when it was last seen, [123] s ago\.$/,
  )
})

test('a label with a line break or other control characters is escaped, and a long label is cut', async () => {
  const client = rig.client()
  const label = `a\nERROR forged \u001b[31m\u202e${'x'.repeat(100_000)}`
  await heldElsewhere('it', { label, host: 'vm\u2028', pid: 1, version: '1', startedAt: 1 })
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  const { text, process } = await lock.why()
  expect(text).toContain('a\\u{a}ERROR forged \\u{1b}[31m\\u{202e}xxx')
  expect(text).toContain('(vm\\u{2028}:1)')
  expect(text.length).toBeLessThan(400)
  expect(process?.label.length).toBe(255)
})

test('an owner name with a line break is escaped too', async () => {
  const client = rig.client()
  await rig.server.admin.hset('it', 'a\nforged:1', '1')
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  expect((await lock.why()).text).toBe('Lock "it" is held by a\\u{a}forged:1.')
  await rig.server.admin.del('it')
})

test.each([
  '{}',
  'null',
  '7',
  '[]',
  'no JSON',
  JSON.stringify({ label: 'billing', host: 'vm' }),
  JSON.stringify({ label: 1, host: 'vm', pid: 1, version: '1', startedAt: 1 }),
  JSON.stringify({ label: 'a', host: 'vm', pid: '1', version: '1', startedAt: 1 }),
])('an incomplete client note gives no process: %s', async (about) => {
  const client = rig.client()
  const holder = await heldElsewhere('it', about)
  expect(await client.clientInfo(holder)).toBeNull()
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  expect((await lock.why()).text).toContain(`is held by ${holder} for`)
})

test('another client of the same process is named without a request', async () => {
  const [client, other] = [rig.client(), rig.witness({ label: 'other part' })]
  const held = await other.getLock('it').lock()
  const lock = client.getLock('it')
  await warm(client)
  const error = await lock.lock({ waitMs: 800 }).catch((one) => one)
  expect(error.message).toContain(
    `It is held by another client of this process (other part), as ${held.owner}, for`,
  )
  expect(await lock.why()).toMatchObject({ process: { client: other.id, pid: process.pid } })
  expect(reads()).toBe(0)
  await held.release()
})

test('the error of a failed wait contains `why` and its text', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const held = await other.getLock('it').lock()
  const lock = client.getLock('it')
  await warm(client)
  const failed = await lock.lock({ waitMs: 600 }).catch((error) => error)
  expect(failed).toBeInstanceOf(WaitTimeoutError)
  expect(failed.why).toMatchObject({ outcome: 'held', holder: held.owner })
  expect(failed.message).toContain(failed.why.text.replace('Lock "it"', 'It'))
  const behind = await Promise.all(
    [1, 2].map(() => lock.using(() => {}, { waitMs: 600 }).catch((error) => error)),
  )
  for (const error of behind) expect(error.why).toMatchObject({ holder: held.owner })
  await held.release()
})

test('a lock that the client holds itself is reported without a request', async () => {
  const client = rig.client()
  const held = await client.getLock('it').lock()
  const lock = client.getLock('it')
  expect(await lock.tryLock(30)).toBeNull()
  const before = others()
  const why = await lock.why()
  expect(why).toMatchObject({ holder: held.owner, process: { client: client.id } })
  expect(why.text).toMatch(
    /is held by this client itself, as .* run both in using\(\) or run\(\), so that the call re-enters\.$/,
  )
  expect(why.ageMs).toBeLessThan(20_000)
  expect(others()).toBe(before)
  await held.release()
})

test('`why()` says that a lock is free, and names a holder that came later', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const lock = client.getLock('it')
  expect(await lock.why()).toMatchObject({
    outcome: 'free',
    holder: null,
    text: expect.stringMatching(/^Lock "it" is free now\.$/),
  })
  const held = await other.getLock('it').lock()
  expect(await lock.why()).toMatchObject({ outcome: 'held', holder: held.owner, ageMs: null })
  await held.release()
})

test('an outage is reported as an outage, without a request', async () => {
  const client = rig.client({ commandTimeoutMs: 100, outageMs: 300 })
  await warm(client)
  rig.proxy.blackHole()
  const lock = client.getLock('it')
  const error = await lock.tryLock().catch((one) => one)
  expect(error).toBeInstanceOf(RedisUnavailableError)
  expect(error.why).toMatchObject({ outcome: 'outage', holder: null, text: error.message })
  const before = others()
  expect(await lock.why()).toMatchObject({ outcome: 'outage' })
  expect(others()).toBe(before)
})

test('the age of a Redisson hold is unknown, because its token contains no time', async () => {
  const client = rig.client()
  const holder = '0a1b2c3d-0000-4000-8000-0123456789ab:71'
  await rig.server.admin.hset('it', holder, '1')
  await rig.server.admin.set('redisson_lock_token:{it}', '3')
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  expect(await lock.why()).toMatchObject({ holder, process: null, ageMs: null, ttlMs: null })
  await rig.server.admin.del('it', 'redisson_lock_token:{it}')
})

test('a fair lock reports the position in its queue', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const held = await other.getFairLock('it').lock()
  const first = other.getFairLock('it').lock()
  await rig.queued('it', 1)
  const lock = client.getFairLock('it')
  const failed = lock.lock({ waitMs: 1_500 }).catch((error) => error)
  await rig.queued('it', 2)
  expect(await client.getFairLock('it').tryLock()).toBeNull()
  const error = await failed
  expect(error.why).toMatchObject({ holder: held.owner, queuePosition: 2 })
  expect(error.why.text).toMatch(/Its place in the queue was 2\.$/)
  const tried = client.getFairLock('it')
  expect(await tried.tryLock()).toBeNull()
  expect(await tried.why()).toMatchObject({ holder: held.owner, queueLength: 1 })
  await held.release()
  await (await first).release()
})

test('a read lock and a write lock report one holder, and the age of its hold', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const [mine, theirs] = [client, other].map((one) => one.getReadWriteLock('it'))
  const writing = await theirs?.writeLock().lock()
  const read = mine?.readLock()
  expect(await read?.tryLock()).toBeNull()
  expect(await read?.why()).toMatchObject({ holder: writing?.owner, ageMs: expect.any(Number) })
  await writing?.release()
  const reading = await theirs?.readLock().lock()
  const write = mine?.writeLock()
  expect(await write?.tryLock()).toBeNull()
  expect(await write?.why()).toMatchObject({
    holder: reading?.owner,
    ageMs: expect.any(Number),
    process: { client: other.id },
  })
  await reading?.release()
})

test('a multi-lock reports the lock that another client holds', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const held = await other.getLock('b').lock()
  const both = client.getMultiLock(client.getLock('a'), client.getLock('b'))
  expect(await both.tryLock()).toBeNull()
  expect(await both.why()).toMatchObject({ name: 'b', outcome: 'held', holder: held.owner })
  await held.release()
})

test('independent masters report the holder that most of them name, and no age', async () => {
  const cluster = await Cluster.start(3)
  const [client, other] = [cluster.client(), cluster.client({ label: 'billing' })]
  const held = await other.getLock('it').lock()
  await cluster.heldEverywhere('it', held.owner)
  const lock = client.getLock('it')
  expect(await lock.tryLock()).toBeNull()
  await eventually(async () => (await lock.why()).process !== null)
  expect(await lock.why()).toMatchObject({
    holder: held.owner,
    ageMs: null,
    process: { label: 'billing' },
  })
  await held.release()
})

test('in memory, `why()` uses the time of the server', async () => {
  const server = createMemoryServer({ virtualTime: true })
  const [client, other] = [server.newClient(), server.newClient({ label: 'billing' })]
  const holding = other.getLock('it').lock()
  await server.advance(0)
  const held = await holding
  await server.advance(12_000)
  const lock = client.getLock('it')
  const tried = lock.tryLock()
  await server.advance(0)
  expect(await tried).toBeNull()
  const asked = lock.why()
  await server.advance(0)
  const why = await asked
  expect(why).toMatchObject({ holder: held.owner, ageMs: 12_000, process: { label: 'billing' } })
  expect(why.text).toMatch(
    /^Lock "it" is held by another client of this process \(billing\), .* for 12 s/,
  )
  const closing = Promise.all([client.close(), other.close()])
  await server.advance(0)
  await closing
})

test('a broken counter of a lock does not stop `tryLock()` and `why()`', async () => {
  const [client, other] = [rig.client(), rig.witness()]
  const { admin } = rig.server
  const counter = 'redisson_lock_token:{it}'
  const lock = client.getLock('it')
  const held = await other.getLock('it').lock()
  await admin.set(counter, 'nonsense')
  expect(await lock.tryLock()).toBeNull()
  expect(await lock.why()).toMatchObject({ holder: held.owner, ageMs: null })
  expect(await client.getFairLock('it').tryLock()).toBeNull()
  await admin.del(counter)
  await admin.lpush(counter, 'nonsense')
  expect(await lock.tryLock()).toBeNull()
  await admin.del(counter)
  await held.release()

  const writes = await other.getReadWriteLock('rw').writeLock().lock()
  await admin.del('redisson_lock_token:{rw}')
  await admin.lpush('redisson_lock_token:{rw}', 'nonsense')
  expect(await client.getReadWriteLock('rw').readLock().tryLock()).toBeNull()
  await admin.del('redisson_lock_token:{rw}')
  await writes.release()
})
