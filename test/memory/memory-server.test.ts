import { setImmediate as nextTurn } from 'node:timers/promises'
import { InvalidArgumentError } from '../../src/index.ts'
import { FAIR } from '../../src/servers/fair-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { createMemoryServer, type MemoryClientOptions } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { ALIVE_MS } from '../support/promised-times.ts'
import { fairVerbsOf, verbsOf } from '../support/verbs.ts'

/** A server whose clock moves only if the test moves it. */
class SetServer extends CountingServer {
  readonly #clock: { now: number }

  constructor(clock = { now: 1_700_000_000_000 }) {
    super(() => clock.now)
    this.#clock = clock
  }

  pass(ms: number): void {
    this.#clock.now += ms
  }
}

let server: SetServer
let clients: { close(): Promise<unknown> }[]

beforeEach(() => {
  server = new SetServer()
  clients = []
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  expect(server.connections).toBe(0)
  expect(server.messages.names).toEqual([])
})

const newClient = (options?: MemoryClientOptions, at = server) => {
  const client = at.newClient(options)
  clients.push(client)
  return client
}

/** A connection without a client. */
const newConnection = () => {
  const connection = new MemoryConnection(server, 60_000)
  clients.push({ close: async () => connection.disconnect() })
  return connection
}

describe('a clock that the server is given', () => {
  test('the given clock decides when a lease ends', async () => {
    const [one, two] = [newClient().getLock('it'), newClient().getLock('it')]
    const lease = await one.lock(10_000)
    server.pass(10_000)
    expect(await two.tryLock()).toBeNull()
    server.pass(1)
    const next = await two.tryLock()
    expect(next?.token).toBeGreaterThan(lease.token)
    expect(await lease.release()).toBe(false)
    expect(await two.inspect()).toMatchObject({ holder: next?.owner, ttlMs: 30_000 })
  })

  test('tokens rise even when the clock stands still and the server forgets everything', async () => {
    const lock = newClient().getLock('it')
    const tokens: number[] = []
    for (let round = 0; round < 5; round++) {
      // Two of these calls wait, and so use reserved tokens.
      await Promise.all([1, 2, 3].map(() => lock.using(({ token }) => void tokens.push(token))))
      server.clear()
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
    expect(tokens).toHaveLength(15)
  })

  test('when the clock jumps, the holder learns that its lease is lost and the waiter acquires the lock', async () => {
    const [one, two] = [newClient().getLock('it'), newClient().getLock('it')]
    const lease = await one.lock()
    const waiting = two.lock()
    await eventually(() => server.messages.count('lock it') === 1)
    server.pass(30_001)
    server.checkAgain()
    const next = await waiting
    await eventually(() => lease.signal.aborted)
    expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
    expect(next.valid).toBe(true)
  })

  test('the given clock decides when a fair waiter without heartbeats loses its place', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) =>
      fairVerbsOf(requestsOfKind(newConnection(), FAIR, id).lock('it')),
    )
    const attempt = { leaseMs: 60_000, ticket: '', listens: () => false, callMs: 1_000 }
    const held = await a?.acquire({ ...attempt, owner: 'a:1' })
    const token = held?.kind === 'granted' ? held.token : 0
    await b?.acquire({ ...attempt, owner: 'b:1' })
    server.pass(1_000)
    await c?.acquire({ ...attempt, owner: 'c:1' })
    server.pass(ALIVE_MS - 1_000 + 1)
    expect(await a?.release('a:1', token, 1_000)).toMatchObject({ following: { owner: 'c:1' } })
  })
})

test('clients of one server exclude each other, and clients of two servers do not', async () => {
  const [one, two] = [createMemoryServer(), createMemoryServer()]
  const [a, b, c] = [one.newClient(), one.newClient(), two.newClient()]
  clients.push(a, b, c)
  const lease = await a.getLock('it').lock()
  expect(await b.getLock('it').tryLock()).toBeNull()
  expect(await b.getFairLock('it').tryLock()).toBeNull()
  expect(await c.getLock('it').tryLock()).not.toBeNull()
  await lease.release()
  expect(await b.getFairLock('it').tryLock()).not.toBeNull()
})

test('a multi-lock acquires all locks of one server in one request', async () => {
  const other = new SetServer()
  const [here, there] = [newClient(), newClient({}, other)]
  const locks = [here.getLock('a'), there.getLock('b'), here.getLock('c')]
  const before = [server.requests, other.requests]
  const lease = await here.getMultiLock(...locks).lock()
  // The first request identifies the server. The second request acquires the locks.
  expect([server.requests, other.requests].map((now, i) => now - (before[i] ?? 0))).toEqual([2, 2])
  expect(await newClient().getLock('c').tryLock()).toBeNull()
  expect(await newClient({}, other).getLock('b').tryLock()).toBeNull()
  await lease.release()
})

test('an answer comes in a later turn of the event loop, as from a real server', async () => {
  const connection = newConnection()
  let answered = false
  const attempt = { owner: 'a:1', leaseMs: 1_000, reserve: 0, callMs: 1_000 }
  const answer = verbsOf(connection.lock('it'))
    .acquire(attempt)
    .finally(() => {
      answered = true
    })
  for (let turns = 0; turns < 20; turns++) await Promise.resolve()
  expect(answered).toBe(false)
  await nextTurn()
  expect(await answer).toMatchObject({ kind: 'granted' })
})

test('a re-entry or a release with the token of an earlier hold is answered with gone', async () => {
  const connection = newConnection()
  const lock = connection.lock('it')
  const attempt = { owner: 'a:1', leaseMs: 1_000, reserve: 0, callMs: 1_000 }
  const tokens: number[] = []
  for (let n = 0; n < 2; n++) {
    const answer = await verbsOf(lock).acquire(attempt)
    if (answer.kind === 'granted') tokens.push(answer.token)
    server.pass(n === 0 ? 1_001 : 0)
  }
  const [early, late] = tokens as [number, number]
  const gone = { kind: 'gone' }
  expect(await verbsOf(lock).reenter({ ...attempt, token: early, holds: 2 })).toEqual(gone)
  expect(await verbsOf(lock).release({ ...attempt, token: early, holds: 0 })).toEqual(gone)
  expect(
    await fairVerbsOf(requestsOfKind(connection, FAIR, 'a').lock('it')).release(
      'a:1',
      early,
      1_000,
    ),
  ).toEqual(gone)
  expect(await lock.inspect(1_000)).toMatchObject({ holder: 'a:1', holdCount: 1, token: late })
})

test('the age of a hold is the time since its grant by the clock of the server', async () => {
  const lock = newConnection().lock('it')
  expect(await lock.inspect(1_000)).toMatchObject({ holder: null, ageMs: null })
  await verbsOf(lock).acquire({ owner: 'a:1', leaseMs: 30_000, reserve: 0, callMs: 1_000 })
  server.pass(12_000)
  expect(await lock.inspect(1_000)).toMatchObject({ holder: 'a:1', ageMs: 12_000 })
})

test('a client counts as one listener, however often it listens', async () => {
  const [one, two] = [newConnection(), newConnection()]
  const listening = [one, one, two].map((connection) => connection.lock('it').listen(() => {}))
  expect(await one.lock('it').inspect(1_000)).toMatchObject({ waiters: 2 })
  listening[0]?.stop()
  expect(await one.lock('it').inspect(1_000)).toMatchObject({ waiters: 2 })
  listening[1]?.stop()
  expect(await one.lock('it').inspect(1_000)).toMatchObject({ waiters: 1 })
  listening[2]?.stop()
})

test('the records of locks are deleted when their counters have expired', async () => {
  const client = newClient({ counterTtlMs: 60_000 })
  for (let n = 0; n < 3_000; n++) {
    await client.getLock(`lock ${n}`).using(() => {})
    server.pass(1_000)
  }
  const { size } = server
  expect(size).toBeLessThan(1_100)
  await client.getFairLock('fair').using(() => {})
  await newClient().getLock('free').inspect()
  server.pass(3_600_001)
  expect(server.records.size).toBe(0)
})

test('a waiter that a message wakes does not act in the frame of the sender', async () => {
  const [one, two] = [newClient(), newClient()]
  const lock = two.getLock('it')
  const releasing = one.run(async () => {
    const lease = await one.getLock('it').lock()
    await eventually(() => server.messages.count('lock it') === 1)
    await lease.release()
  })
  const lease = await lock.lock()
  await releasing
  // Inside a frame, the lock would belong to the frame, and `tryLock()` would re-enter it.
  expect(await lock.tryLock()).toBeNull()
  await lease.release()
})

test.each([['redis'], ['masters'], ['watchdogThread'], ['durability']])(
  'the option %s is refused because it needs a Redis server',
  (option) => {
    const make = () => createMemoryServer().newClient({ [option]: 'redis://127.0.0.1' })
    expect(make).toThrow(InvalidArgumentError)
    expect(make).toThrow(`There is no option \`${option}\` here.`)
  },
)

test('the types refuse options that need a Redis server', () => {
  const server = createMemoryServer()
  // @ts-expect-error: there are no replicas.
  expect(() => server.newClient({ durability: { replicas: 1 } })).toThrow(InvalidArgumentError)
  // @ts-expect-error: the locks live in this process.
  expect(() => server.newClient({ redis: 'redis://127.0.0.1' })).toThrow(InvalidArgumentError)
})

test('the error of a lease that the server lost does not mention Redis', async () => {
  const lease = await newClient().getLock('it').lock()
  server.clear()
  const error = await lease.extend(60_000).catch((error) => error)
  expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
  expect(error.message).toContain('the server reports')
  expect(error.message).not.toContain('Redis')
})

test('a lock in memory cannot be a master of a RedLock', () => {
  const client = newClient()
  expect(() => client.getRedLock(client.getLock('it'))).toThrow(
    'getRedLock(...locks): "it" is a lock in memory, which is not an independent master.',
  )
})
