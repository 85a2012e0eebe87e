import { ServerClock } from '../../src/servers/redis/calls/server-clock.ts'
import { type Random, randomOf } from '../support/random.ts'

/** The drift between two clocks, as a share of the time: the limit of NTP, and the drift of quartz in addition. */
const DRIFTS = [0, 0.0006, -0.0006]

/** A client and a server. The test moves both clocks. */
function scene(drift: number) {
  let now = 1_000
  let stepMs = 1_800_000_000_000
  jest.spyOn(performance, 'now').mockImplementation(() => now)
  const serverMs = (at: number) => at * (1 + drift) + stepMs
  const clock = new ServerClock()
  const wait = (ms: number) => {
    now += ms
  }
  return {
    clock,
    wait,
    /** Returns the server's time in µs at a moment of the client's clock. */
    timeUs: (at = now) => serverMs(at) * 1_000,
    now: () => now,
    step(ms: number) {
      stepMs += ms
    },
    /** Sends a request that needs `thereMs` milliseconds. Its answer needs `backMs` milliseconds. */
    ask(thereMs: number, backMs: number) {
      const sentAt = now
      wait(thereMs)
      const us = serverMs(now) * 1_000
      wait(backMs)
      clock.update(us, sentAt)
    },
  }
}

/** Returns the time of a message. Most messages are quick, and some are delayed. */
const way = (random: Random) => (random.below(4) === 0 ? random.below(500) : 1 + random.below(3))

afterEach(() => jest.restoreAllMocks())

describe.each(DRIFTS)('with a drift of %d', (drift) => {
  test.each([1, 2, 3, 4, 5])(
    'a time of the server is never taken for a later moment, however slow the answers are: seed %i',
    (seed) => {
      const random = randomOf(seed)
      const { clock, ask, wait, timeUs, now } = scene(drift)
      for (let n = 0; n < 300; n++) {
        ask(way(random), way(random))
        wait(random.below(20_000))
        const at = now() - random.below(10_000)
        expect(clock.earliestAt(timeUs(at))).toBeLessThanOrEqual(at + 0.01)
      }
    },
  )

  test('slow answers do not lose what a quick answer showed', () => {
    const { clock, ask, timeUs, now } = scene(drift)
    ask(300, 400)
    ask(1, 1)
    for (let n = 0; n < 3; n++) ask(400, 300)
    const at = now()
    // The way of the quick request, and the possible drift of the clocks since that request.
    expect(at - clock.earliestAt(timeUs())).toBeLessThan(1 + 2.1 * 3 + 0.1)
    expect(Math.abs(clock.timeUs(at) - timeUs())).toBeLessThan(3_000)
  })
})

test.each([-600_000, -300, 300, 600_000])(
  'a step of the clock by %i ms is known after one quick answer',
  (ms) => {
    const { clock, ask, step, timeUs, now } = scene(0)
    ask(2, 3)
    step(ms)
    ask(2, 3)
    expect(now() - clock.earliestAt(timeUs())).toBeLessThan(2.1)
    expect(clock.earliestAt(timeUs())).toBeLessThanOrEqual(now())
  },
)

test('nothing is known of a server that has reported no time', () => {
  const clock = new ServerClock()
  expect(clock.timeUs(performance.now())).toBe(0)
  expect(clock.earliestAt(1_800_000_000_000_000)).toBeNaN()
})
