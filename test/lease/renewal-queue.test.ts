import { RenewalQueue } from '../../src/lease/renewal-queue.ts'
import { TestClock } from './test-clock.ts'

/** A hold whose validity ends after `ms` milliseconds. */
const endsIn = (ms: number) => ({ remainingMonotonicMs: () => ms })
const holds = (count: number, ms: number) => Array.from({ length: count }, () => endsIn(ms))

let clock: TestClock
let queue: RenewalQueue<ReturnType<typeof endsIn>>
/** The sent requests: the name of their group, and the number of their holds. */
let sent: [string, number][]

const group = (name: string, { isDropped = (): boolean => false } = {}) => ({
  isDropped,
  send: (some: readonly unknown[]) => {
    sent.push([name, some.length])
    return 1
  },
})

beforeEach(() => {
  clock = new TestClock()
  clock.stopTurns()
  queue = new RenewalQueue(clock)
  sent = []
})

test('each turn of the event loop sends one portion, and the first portion is sent at once', () => {
  queue.add(holds(1_100, 5_000), group('a'))
  queue.send()
  expect(sent).toEqual([['a', 500]])
  queue.send()
  expect(sent).toHaveLength(1)
  clock.turn()
  clock.turn()
  clock.turn()
  expect(sent).toEqual([
    ['a', 500],
    ['a', 500],
    ['a', 100],
  ])
})

test('a few holds of several groups are sent at once', () => {
  for (const name of ['a', 'b', 'c']) queue.add(holds(20, 5_000), group(name))
  queue.send()
  expect(sent).toHaveLength(3)
})

test('the holds whose validity ends first are sent first, even if they came later', () => {
  queue.add([...holds(500, 7_000), ...holds(500, 9_000)], group('long'))
  queue.send()
  queue.add(holds(500, 8_000), group('middle'))
  queue.add(holds(500, 1_000), group('short'))
  queue.send()
  for (let turns = 0; turns < 3; turns += 1) clock.turn()
  expect(sent.map(([name]) => name)).toEqual(['long', 'short', 'middle', 'long'])
})

test('a turn sends fewer holds if they need many requests, as in a cluster', () => {
  for (let i = 0; i < 100; i += 1) queue.add(holds(1, 5_000), group(`slot ${i}`))
  queue.send()
  expect(sent.length).toBeGreaterThan(20)
  expect(sent.length).toBeLessThan(60)
  clock.turn()
  clock.turn()
  expect(sent).toHaveLength(100)
})

test('requests that newer requests replace are not sent', () => {
  let isDropped = false
  queue.add(holds(1_000, 5_000), group('a', { isDropped: () => isDropped }))
  queue.send()
  isDropped = true
  queue.add(holds(1, 9_000), group('b'))
  clock.turn()
  expect(sent).toEqual([
    ['a', 500],
    ['b', 1],
  ])
})

test('an exception in one request does not stop the other requests', () => {
  const failing = {
    isDropped: () => false,
    send: () => {
      throw new Error('failed')
    },
  }
  queue.add(holds(1, 1_000), failing)
  queue.add(holds(1, 5_000), group('a'))
  expect(() => queue.send()).toThrow('failed')
  clock.turn()
  expect(sent).toEqual([['a', 1]])
})
