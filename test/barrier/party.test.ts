import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/kit/clock.ts'
import { Barriers } from '../../src/locks/barrier/barriers.ts'
import type { Arrival, Arrived, RemoteBarrier } from '../../src/servers/barrier-server.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'
import { ResponseTime } from '../../src/waiting/response-time.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'

const LEASE_MS = 3_000

/** A barrier whose answers the test gives, in any order. */
class FakeBarrier implements RemoteBarrier {
  readonly arrivals: Arrival[] = []
  readonly limitsMs: number[] = []
  readonly withdrawn: string[] = []
  confirmed = false
  outcome: 'left' | 'passed' = 'left'
  publish: (round?: number) => void = () => undefined
  readonly #answers: ((answer: Arrived | Error) => void)[] = []

  arrive(arrival: Arrival, callMs: number): Promise<Arrived> {
    this.arrivals.push(arrival)
    this.limitsMs.push(callMs)
    return new Promise((resolve, reject) =>
      this.#answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
    )
  }

  /** Answers the oldest request to arrive that has no answer. */
  async answer(answer: Arrived | Error): Promise<void> {
    const sent = this.arrivals.length
    await eventually(() => this.#answers.length > 0, { message: `a request after ${sent}` })
    this.#answers.shift()?.(answer)
  }

  async withdraw(id: string): Promise<'left' | 'passed'> {
    this.withdrawn.push(id)
    return this.outcome
  }

  async inspect() {
    return { arrived: 0, parties: null, round: null }
  }

  listen(onEnded: (round?: number) => void) {
    this.publish = onEnded
    return { confirmed: this.confirmed, stop: () => undefined }
  }
}

function newBarriers({ leaseMs = LEASE_MS, commandTimeoutMs = 2_000 } = {}) {
  const remote = new FakeBarrier()
  const barriers = new Barriers('client', leaseMs, {
    clock: systemClock,
    commandTimeoutMs,
    outageMs: 5_000,
    patienceMs: () => 5_000,
    responseTime: new ResponseTime(),
    words: REDIS_WORDS,
    whyDown: () => undefined,
  })
  const arrive = (waitMs = Infinity) =>
    barriers.await('it', remote, { parties: 2, waitMs, signal: undefined })
  return { remote, arrive }
}

test('an arrival whose request has no answer yet is not reported as answered', async () => {
  const { remote, arrive } = newBarriers()
  // The answer to the request to leave comes before the answer to the request to arrive.
  expect(await within(2_000, arrive(50))).toBe(false)
  void arrive()
  await eventually(() => remote.arrivals.length === 2)
  expect(remote.arrivals[1]?.answered).toEqual([])
  await remote.answer({ kind: 'gone' })
  await remote.answer({ kind: 'passed' })
})

test('an arrival whose request was not answered in time is not reported as answered', async () => {
  const { remote, arrive } = newBarriers()
  const first = arrive()
  await remote.answer(new CallFailure('unknown', 'no answer'))
  await remote.answer({ kind: 'passed' })
  expect(await within(2_000, first)).toBe(true)
  const second = arrive()
  await remote.answer({ kind: 'passed' })
  expect(await within(2_000, second)).toBe(true)
  expect(remote.arrivals.at(-1)?.answered).toEqual([])
  // The second arrival had one request and one answer.
  void arrive()
  await remote.answer({ kind: 'passed' })
  expect(remote.arrivals.at(-1)?.answered).toEqual([remote.arrivals[2]?.id])
})

test('a call whose round ended before its request to leave gives true', async () => {
  const { remote, arrive } = newBarriers()
  remote.outcome = 'passed'
  const waiting = arrive(300)
  await remote.answer({ kind: 'waiting', round: 7 })
  expect(await within(2_000, waiting)).toBe(true)
  expect(remote.withdrawn).toEqual([remote.arrivals[0]?.id])
  await remote.answer({ kind: 'passed' })
})

test('a request to arrive lasts no longer than a lease', async () => {
  const { remote, arrive } = newBarriers({ leaseMs: 500 })
  void arrive()
  await remote.answer({ kind: 'passed' })
  expect(remote.limitsMs).toEqual([500])
})

test('shortly before the end of its lease, a party does not rely on a message', async () => {
  const { remote, arrive } = newBarriers({ leaseMs: 3_000 })
  const waiting = arrive()
  let isSettled = false
  void waiting.finally(() => {
    isSettled = true
  })
  await remote.answer({ kind: 'waiting', round: 7 })
  // The drift and the margin are 32 ms and 100 ms. No answer comes to later requests.
  await pause(2_900)
  remote.publish(7)
  await never(() => isSettled, 50)
  await remote.answer({ kind: 'passed' })
  expect(await within(2_000, waiting)).toBe(true)
})

test('a message ends the wait while the arrival certainly counts', async () => {
  const { remote, arrive } = newBarriers()
  const waiting = arrive()
  await remote.answer({ kind: 'waiting', round: 7 })
  await eventually(() => remote.arrivals.length === 2)
  remote.publish(7)
  expect(await within(2_000, waiting)).toBe(true)
  await remote.answer({ kind: 'passed' })
})
