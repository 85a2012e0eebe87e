import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { PendingReleases } from '../../src/servers/pending-releases.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'

/** A server that answers, or does not answer, as the test says. */
class Server {
  readonly pending = new PendingReleases(100)
  failure: CallFailure | undefined
  /** The names in the requests for releases, in order. `askedAt` has the times. */
  readonly asked: string[] = []
  readonly askedAt: number[] = []
  underWay = 0
  mostUnderWay = 0

  constructor() {
    atEnd(() => this.pending.stopAll(), { beforeCheck: true })
  }

  add(name: string, { untilMs = 0, leaseMs = 60_000, fromMs = 0 } = {}): void {
    const release = () => this.#release(name)
    this.pending.add({ send: release, untilMs, leaseMs, fromMs })
  }

  async #release(name: string): Promise<void> {
    this.asked.push(name)
    this.askedAt.push(performance.now())
    this.underWay += 1
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    await pause(5)
    this.underWay -= 1
    if (this.failure !== undefined) throw this.failure
  }

  times(name: string): number {
    return this.asked.filter((one) => one === name).length
  }
}

const silence = () => new CallFailure('unknown', 'no answer')
const names = Array.from({ length: 120 }, (_, i) => `c:${i}`)

test('a name is released at once, and only once if no request can follow', async () => {
  const server = new Server()
  server.add('c:1')
  expect(server.asked).toEqual(['c:1'])
  await eventually(() => server.pending.size === 0)
  await pause(150)
  expect(server.asked).toEqual(['c:1'])
})

test('a name whose request may be delayed is released at once, and again after that request', async () => {
  const server = new Server()
  const untilMs = performance.now() + 400
  server.add('c:1', { untilMs })
  await eventually(() => server.pending.size === 0)
  expect(server.asked).toEqual(['c:1', 'c:1'])
  expect(server.askedAt[0]).toBeLessThan(untilMs)
  expect(server.askedAt[1]).toBeGreaterThanOrEqual(untilMs)
})

test('a name that is to be released later is not released before', async () => {
  const server = new Server()
  const fromMs = performance.now() + 100
  server.add('c:1', { fromMs })
  await eventually(() => server.pending.size === 0)
  expect(server.asked).toEqual(['c:1'])
  expect(server.askedAt[0]).toBeGreaterThanOrEqual(fromMs)
})

test('one release at a time is tried while the server does not answer, however many there are', async () => {
  const server = new Server()
  server.failure = silence()
  server.add('first')
  await eventually(() => server.underWay === 0)
  for (const name of names) server.add(name)
  await eventually(() => server.asked.length >= 5)
  expect(server.mostUnderWay).toBe(1)
  server.failure = undefined
  await eventually(() => server.pending.size === 0)
  // If the server answers again, the client does not send all releases at once.
  expect(server.mostUnderWay).toBeLessThanOrEqual(50)
  for (const name of names) expect(server.times(name)).toBeLessThanOrEqual(2)
})

test('a release that is added after an answer of the server is sent at once', async () => {
  const server = new Server()
  server.failure = silence()
  server.add('first')
  await eventually(() => server.underWay === 0)
  server.add('second')
  expect(server.times('second')).toBe(0)
  server.pending.answered()
  server.add('third')
  expect(server.times('third')).toBe(1)
})

test('a release that is refused forever is given up, and delays no other release', async () => {
  const server = new Server()
  server.failure = new CallFailure('refused', 'WRONGTYPE Operation against a key', undefined, true)
  server.add('c:1')
  await eventually(() => server.pending.size === 0)
  server.failure = undefined
  server.add('c:2')
  expect(server.asked).toEqual(['c:1', 'c:2'])
})

test('a release that is refused for a while delays no other release', async () => {
  const server = new Server()
  const refused = new CallFailure('refused', 'OOM command not allowed', undefined, false)
  const bad = () => Promise.reject(refused)
  server.pending.add({ send: bad, untilMs: 0, leaseMs: 60_000 })
  await pause(5)
  server.add('c:2')
  await eventually(() => server.times('c:2') === 1)
  await eventually(() => server.pending.size === 1)
})

test('a release is given up when the lease would be over', async () => {
  const server = new Server()
  server.failure = silence()
  server.add('c:1', { leaseMs: 200 })
  await eventually(() => server.pending.size === 0)
})

test('`quiet()` resolves when all names are released, or when its caller stops it', async () => {
  const server = new Server()
  server.failure = silence()
  for (const name of names) server.add(name)
  let looks = 0
  await server.pending.quiet(() => {
    looks += 1
    return looks < 3
  })
  expect(server.pending.size).toBe(names.length)
  server.failure = undefined
  await server.pending.quiet()
  expect(server.pending.size).toBe(0)
})

test('nothing is released after `close()`', async () => {
  const server = new Server()
  server.failure = silence()
  server.add('c:1')
  server.pending.stopAll()
  server.add('c:2')
  await pause(200)
  expect(server.asked).toEqual(['c:1'])
  await server.pending.quiet()
})

test('the slots of a cluster have separate pending releases', () => {
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true })
  const server = new RedisServer(cluster, 1_000, () => {})
  expect(server.pendingReleases('{a}1')).toBe(server.pendingReleases('{a}2'))
  expect(server.pendingReleases('{a}1')).not.toBe(server.pendingReleases('{b}1'))
})

test('a release that fails after others have failed and succeeded is tried again', async () => {
  const pending = new PendingReleases(100)
  atEnd(() => pending.stopAll(), { beforeCheck: true })
  const tries = { slow: 0, quick: 0 }
  const slow = async () => {
    tries.slow += 1
    if (tries.slow > 1) return
    await pause(200)
    throw silence()
  }
  const quick = async () => {
    tries.quick += 1
    if (tries.quick === 1) throw silence()
  }
  pending.add({ send: slow, untilMs: 0, leaseMs: 60_000 })
  await pause(5)
  pending.add({ send: quick, untilMs: 0, leaseMs: 60_000 })
  await eventually(() => pending.size === 0)
  expect(tries).toEqual({ slow: 2, quick: 2 })
})

test('many releases that fail do not delay a new release', async () => {
  const server = new Server()
  const bad = () => Promise.reject(silence())
  for (let n = 0; n < 30; n += 1) server.pending.add({ send: bad, untilMs: 0, leaseMs: 60_000 })
  await pause(5)
  server.add('new')
  await eventually(() => server.times('new') === 1, { timeoutMs: 2_000 })
})
