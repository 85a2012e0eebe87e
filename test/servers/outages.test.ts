import type { ConnectionEvents } from '../../src/servers/availability/connection-events.ts'
import type { Outage } from '../../src/servers/availability/outage.ts'
import { Outages } from '../../src/servers/availability/outages.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'

const FACTS = {}
const failure = new CallFailure('unsent', 'connect ECONNREFUSED')

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Records the reports, each with its time in seconds and the duration of the outage. */
function begin() {
  const told: string[] = []
  const startedAt = performance.now()
  const note = (what: string) => (outage: Outage, how?: string) => {
    const s = ((performance.now() - startedAt) / 1_000).toFixed(1)
    told.push(`${s}: ${outage.address} ${how ?? what} ${outage.durationMs} (${outage.attempts})`)
  }
  const outages = new Outages('redis-1:6379', REDIS_WORDS, {
    outageBegan: note('out'),
    outageGoesOn: note('still out'),
    outageEnded: note('over'),
  })
  const connection = () => outages.watch<unknown>({ up() {}, down() {}, error() {} })
  return { told, outages, connection }
}

/** Makes a connection fail four times a second, for some seconds. */
function fail(connection: ConnectionEvents, seconds: number): void {
  for (let i = 0; i < 4 * seconds; i++) {
    connection.error(failure)
    jest.advanceTimersByTime(250)
  }
}

test('an outage is reported at its start, at growing intervals, and at its end', () => {
  const { told, connection } = begin()
  const one = connection()
  fail(one, 600)
  one.up(FACTS)
  jest.advanceTimersByTime(60_000)
  expect(told).toEqual([
    '0.0: redis-1:6379 out 0 (1)',
    '5.0: redis-1:6379 still out 5000 (21)',
    '15.0: redis-1:6379 still out 15000 (61)',
    '35.0: redis-1:6379 still out 35000 (141)',
    '75.0: redis-1:6379 still out 75000 (301)',
    '155.0: redis-1:6379 still out 155000 (621)',
    '315.0: redis-1:6379 still out 315000 (1261)',
    '601.0: redis-1:6379 recovered 600000 (2400)',
  ])
})

test('all connections to one server have one outage, which ends when the last connection is up', () => {
  const { told, connection } = begin()
  const [commands, messages] = [connection(), connection()]
  commands.error(failure)
  messages.error(failure)
  commands.up(FACTS)
  jest.advanceTimersByTime(3_000)
  messages.error(failure)
  messages.up(FACTS)
  jest.advanceTimersByTime(3_000)
  expect(told).toEqual(['0.0: redis-1:6379 out 0 (1)', '4.0: redis-1:6379 recovered 3000 (3)'])
})

test('a connection that is up for an instant does not end the outage', () => {
  const { told, connection } = begin()
  const one = connection()
  for (let i = 0; i < 8; i++) {
    one.error(failure)
    jest.advanceTimersByTime(300)
    one.up(FACTS)
    jest.advanceTimersByTime(900)
  }
  expect(told).toEqual(['0.0: redis-1:6379 out 0 (1)', '6.0: redis-1:6379 still out 6000 (6)'])
})

test('a server that fails every few seconds is soon reported as one outage', () => {
  const { told, connection } = begin()
  const one = connection()
  // For ten minutes: five seconds up, then one second down.
  for (let i = 0; i < 100; i++) {
    fail(one, 1)
    one.up(FACTS)
    jest.advanceTimersByTime(5_000)
  }
  expect(told.filter((line) => line.includes(' out 0 '))).toHaveLength(4)
  expect(told.length).toBeLessThan(20)
})

test('an outage after a minute without outages is reported like the first outage', () => {
  const { told, connection } = begin()
  const one = connection()
  for (let i = 0; i < 3; i++) {
    fail(one, 1)
    one.up(FACTS)
    jest.advanceTimersByTime(70_000)
  }
  expect(told.map((line) => line.replace(/^.*6379 /, ''))).toEqual(
    Array(3).fill(['out 0 (1)', 'recovered 1000 (4)']).flat(),
  )
})

test('each node of a cluster has its own outage, which ends when the cluster no longer lists the node', () => {
  const { told, connection } = begin()
  const one = connection() as Required<ConnectionEvents>
  one.nodeFailed('a:1', failure)
  one.nodeFailed('b:2', failure)
  one.nodeUp('a:1')
  jest.advanceTimersByTime(2_000)
  one.nodesListed(new Set(['a:1', 'c:3']))
  jest.advanceTimersByTime(2_000)
  expect(told).toEqual([
    '0.0: a:1 out 0 (1)',
    '0.0: b:2 out 0 (1)',
    '1.0: a:1 recovered 0 (1)',
    '3.0: b:2 recovered 2000 (1)',
  ])
})

test('a closed client has no outages and no timers', () => {
  const { told, outages, connection } = begin()
  const [one, two] = [connection(), connection()]
  one.error(failure)
  one.up(FACTS)
  two.error(failure)
  outages.endAll()
  jest.advanceTimersByTime(60_000)
  expect(told).toEqual(['0.0: redis-1:6379 out 0 (1)', '0.0: redis-1:6379 closed 0 (2)'])
  expect(jest.getTimerCount()).toBe(0)
})
