import { setTimeout as pause } from 'node:timers/promises'
import { type Holdfast, RedisUnavailableError } from '../../src/index.ts'
import { systemClock } from '../../src/kit/clock.ts'
import type {
  AcquireAnswer,
  Gone,
  HandOverAnswer,
  QueueAnswer,
  ReenterAnswer,
  Released,
} from '../../src/servers/answers.ts'
import { BARRIER } from '../../src/servers/barrier-server.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { ELECTION } from '../../src/servers/election-channel.ts'
import { FAIR } from '../../src/servers/fair-server.ts'
import { LATCH } from '../../src/servers/latch-server.ts'
import { MemoryRecordStore } from '../../src/servers/memory/memory-record-store.ts'
import type { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import { OnceRequest } from '../../src/servers/once-request.ts'
import type { PermitAnswer } from '../../src/servers/permit-pool.ts'
import { PERMITS } from '../../src/servers/permit-server.ts'
import { READ_WRITE } from '../../src/servers/read-write-server.ts'
import type { NameRecord, RecordStore } from '../../src/servers/record-store.ts'
import { answerInTime } from '../../src/servers/records/answer-in-time.ts'
import { RECORD_KINDS } from '../../src/servers/records/kinds/all.ts'
import { RecordServer } from '../../src/servers/records/record-server.ts'
import type { Remaining } from '../../src/servers/remaining.ts'
import { NO_REPLY, promised } from '../../src/servers/reply.ts'
import { SEMAPHORE } from '../../src/servers/semaphore-server.ts'
import {
  DistantStore,
  network,
  newDistantClient,
  newDistantServer,
} from '../support/distant-server.ts'
import { takes } from '../support/takes.ts'

/** The time limits of calls on a server without scripts that does not answer. A busy machine may stall for 200 ms. */
const CALL_MS = 600
const silence = () => new Promise<void>(() => {})

let server: MemoryLockServer
let store: DistantStore
const clients: Holdfast[] = []

beforeEach(() => {
  server = newDistantServer()
  store = new DistantStore(server)
})
afterEach(async () => {
  Object.assign(network, { toServer: Promise.resolve(), toClient: Promise.resolve() })
  await Promise.all(clients.splice(0).map((client) => client.close()))
  store.disconnect()
})

const written = () => server.records.has('a')

/** Writes a record. `meanwhile` runs after the client has read the record. */
const write = (meanwhile = () => {}, callMs = CALL_MS) =>
  store.transact(['a'], callMs, ([record]) => {
    meanwhile()
    const { parts } = record as NameRecord
    parts.test = { untilMs: server.now + 60_000, state: {} }
    return { answer: 'written', messages: [] }
  })

/** Returns how the call failed. It must not fail before its time limit. */
async function failureOf(call: () => Promise<unknown>): Promise<CallFailure['kind'] | undefined> {
  const failure = await takes({ atLeast: CALL_MS - 5 }, call).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(CallFailure)
  expect((failure as CallFailure).message).toBe(`no answer within ${CALL_MS} ms`)
  return (failure as CallFailure).kind
}

test('a change whose record cannot be read in time is not sent', async () => {
  network.toServer = pause(2 * CALL_MS)
  expect(await failureOf(() => write())).toBe('unsent')
  await pause(2 * CALL_MS)
  expect(written()).toBe(false)
})

test('a change without an answer may have run', async () => {
  const call = () =>
    write(() => {
      network.toClient = silence()
    })
  expect(await failureOf(call)).toBe('unknown')
  expect(written()).toBe(true)
})

test('a change that reaches the server after its time limit changes nothing', async () => {
  const call = () =>
    write(() => {
      network.toServer = pause(2 * CALL_MS)
    })
  expect(await failureOf(call)).toBe('unknown')
  await pause(2 * CALL_MS)
  expect(written()).toBe(false)
})

test('a change that waits for an earlier change of the same client keeps its own time limit', async () => {
  const first = write(() => {
    network.toClient = silence()
  }, 4 * CALL_MS)
  first.catch(() => {})
  expect(await failureOf(() => write())).toBe('unsent')
})

test('a change that another client overtook is not sent when its time has passed', async () => {
  let isFirst = true
  const call = () =>
    write(() => {
      if (!isFirst) return
      isFirst = false
      server.transact(['a'], ([record]) => {
        const { parts } = record as NameRecord
        parts.other = { untilMs: server.now + 60_000, state: {} }
        return { answer: null, messages: [] }
      })
      // The client learns in time that its change was refused, but cannot read the record again.
      setImmediate(() => {
        network.toServer = silence()
      })
    })
  expect(await failureOf(call)).toBe('unsent')
  expect(Object.keys(server.records.get('a')?.parts ?? {})).toEqual(['other'])
})

test('a change is not sent after its time limit, even if a blocked event loop delays the timer', async () => {
  let isSent = false
  const call = () =>
    answerInTime(systemClock, CALL_MS, async (outcome) => {
      await Promise.resolve()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * CALL_MS)
      outcome.beforeChange()
      isSent = true
    })
  expect(await failureOf(call)).toBe('unsent')
  expect(isSent).toBe(false)
})

test('a message without an answer may have been sent', async () => {
  network.toServer = silence()
  expect(await failureOf(() => store.publish('channel', 'message', CALL_MS))).toBe('unknown')
})

test('a lock on a silent server is given up after the time that the client allows', async () => {
  const callMs = 100
  const options = { commandTimeoutMs: callMs, outageMs: 3 * callMs }
  const client = newDistantClient(server, options)
  clients.push(client)
  client.on('error', () => {})
  await (await client.getLock('it').lock()).release()
  network.toServer = pause(20 * callMs)
  const refused = takes({ atMost: 15 * callMs }, client.getLock('it').tryLock())
  await expect(refused).rejects.toThrow(RedisUnavailableError)
  await expect(refused).rejects.toThrow(/no answer within \d+ ms/)
})

test('each request of each kind has the time limit that its caller gives', async () => {
  const limits: number[] = []
  const inner = new MemoryRecordStore(server)
  const watched = new Proxy<RecordStore>(inner, {
    get(target, name: keyof RecordStore) {
      const value = target[name]
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'transact') limits.push(args[1] as number)
        if (name === 'publish') limits.push(args[2] as number)
        return Reflect.apply(value, target, args)
      }
    },
  })
  const own = { clientId: 'c', label: 'c', outageMs: 1_000 }
  const records = new RecordServer(watched, 0, CALL_MS, 'c', RECORD_KINDS)
  const callMs = 1_234
  const common = { owner: 'c:1', leaseMs: 1_000, callMs, token: 1, holds: 0 }
  const wait = { waits: true, isLast: true, beside: '', beganAt: 0, waitId: '', permits: 1 }
  const attempt = { ...common, ...wait, reserve: 0 }
  const again = { request: 'c:2', keptMs: 1_000 }
  const once = new OnceRequest('c:3', 1_000, systemClock)
  const arrival = { id: 'c:4', parties: 2, leaseMs: 1_000, round: '', answered: [] } as const
  const leases = [{ rawName: 'it', ownerId: 'c:1' }]

  const lock = records.lock('it')
  const fair = records.kind(FAIR, own)
  const readWrite = records.kind(READ_WRITE, own)
  const permits = records.kind(PERMITS, own)
  const semaphore = records.kind(SEMAPHORE, own).semaphore('s')
  const [latch, barrier] = [records.kind(LATCH, own)('l'), records.kind(BARRIER, own)('b')]
  const pool = permits.pool('p')
  const sides = readWrite.lock('rw')
  const change = { id: 'c:5', what: 'set', permits: 1, ttlMs: 0 } as const
  const calls: (() => Promise<unknown>)[] = [
    () => promised<AcquireAnswer>((reply) => lock.acquire(attempt, reply)),
    () => promised<ReenterAnswer>((reply) => lock.reenter(common, reply)),
    () =>
      promised<HandOverAnswer>((reply) => {
        const [from, to] = [
          { owner: 'c:1', token: 1 },
          { owner: 'c:2', leaseMs: 1_000 },
        ]
        lock.handOver({ from, to, mayFree: 'never', listens: false, reserve: 0, callMs }, reply)
      }),
    () => promised<Released>((reply) => lock.lower(common, reply)),
    () => lock.seen(callMs),
    () => lock.forceRelease({ owner: 'c:9', token: null }, callMs),
    () => lock.peek(callMs),
    () => lock.inspect(callMs),
    () => records.renew(leases, 1_000, callMs),
    () => records.acquireAll([{ rawName: 'x', owner: 'c:1' }], 1_000, callMs),
    () => records.requests.send('d', 'message', callMs),
    () => records.kind(ELECTION, own)('it').announce(1, callMs),
    () =>
      promised<QueueAnswer>((reply) =>
        fair.lock('f').acquire({ ...common, ticket: '', listens: () => true }, reply),
      ),
    () => promised<Remaining>((reply) => fair.lock('f').confirm('c:1', 1_000, callMs, reply)),
    () => promised<Released>((reply) => fair.lock('f').endHold(common, reply)),
    () => fair.beat([{ rawName: 'f', places: () => [] }], () => true, callMs),
    () => promised<AcquireAnswer>((reply) => sides.read(attempt, reply)),
    () => promised<ReenterAnswer>((reply) => sides.rereads(common, reply)),
    () => promised<AcquireAnswer | Gone>((reply) => sides.write(attempt, reply)),
    () => promised<ReenterAnswer>((reply) => sides.rewrites(common, reply)),
    () => promised<Released>((reply) => sides.lower(common, true, reply)),
    () => sides.forceRelease('c:1', callMs),
    () => sides.inspect(callMs),
    () => readWrite.renew(leases, 1_000, callMs),
    () => promised<PermitAnswer>((reply) => pool.acquire(attempt, reply)),
    () => promised<Released>((reply) => pool.giveBack(common, true, reply)),
    () => promised<Released>((reply) => pool.handOver?.(common, attempt, reply, NO_REPLY)),
    () => pool.change({ how: 'set', permits: 1, ...again }, callMs),
    () => pool.releaseIds([], again, callMs),
    () => pool.inspect(1, callMs),
    () => permits.renew(leases, 1_000, callMs),
    () => promised<PermitAnswer>((reply) => semaphore.acquire(attempt, reply)),
    () => promised<Released>((reply) => semaphore.giveBack(common, true, reply)),
    () => semaphore.add({ id: 'c:6', permits: 1, ifExists: false }, callMs),
    () => semaphore.addAndAcquire({ id: 'c:7', permits: 1, ifExists: false }, attempt, NO_REPLY),
    () => semaphore.change(change, callMs),
    () => semaphore.inspect(1, callMs),
    () => latch.trySetCount(1, once, callMs),
    () => latch.countDown(once, callMs),
    () => latch.delete(once, callMs),
    () => latch.read(callMs),
    () => latch.inspect(callMs),
    () => barrier.arrive(arrival, callMs),
    () => barrier.withdraw('c:4', callMs),
    () => barrier.inspect(callMs),
  ]
  for (const call of calls) await call().catch(() => {})
  expect(limits).toEqual(calls.map(() => callMs))
  // Requests in the background have the time limit of the client.
  limits.length = 0
  for (const one of [pool, semaphore]) one.stopWaiting(() => true)
  sides.stopWaiting('read', () => true)
  lock.abandon('c:1', 0, 1_000)
  await records.quiet()
  expect(limits.length).toBeGreaterThan(4)
  expect(new Set(limits)).toEqual(new Set([CALL_MS]))
  inner.disconnect()
})
