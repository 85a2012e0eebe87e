import { ClosedError, RedisUnavailableError } from '../../src/index.ts'
import { systemClock } from '../../src/kit/clock.ts'
import { LeaderWatch } from '../../src/locks/leader/leader-watch.ts'
import type { HolderFacts } from '../../src/servers/facts.ts'
import { labelIn, labelSuffix } from '../../src/servers/owner-id.ts'
import { eventually } from '../support/eventually.ts'

/** The answers of the server to one check after another; the last answer repeats forever. */
function watching(looks: (HolderFacts | Error)[], { accepts = true, everyMs = 1 } = {}) {
  const told: (number | null)[] = []
  const failures: Error[] = []
  let listeners = 0
  let asked = 0
  let wake = () => {}
  const verified: (string | null)[] = []
  const watch = new LeaderWatch({
    everyMs,
    clock: systemClock,
    peek: async () => {
      const seen = looks[Math.min(asked, looks.length - 1)] as HolderFacts | Error
      asked += 1
      if (seen instanceof Error) throw seen
      return seen
    },
    listen: (onWake) => {
      wake = onWake
      listeners += 1
      return [{ confirmed: true, stop: () => (listeners -= 1) }]
    },
    verify: async (holder) => {
      verified.push(holder)
    },
    accepts: () => accepts,
    changed: (leader) => told.push(leader?.token ?? null),
    failed: (error) => failures.push(error),
  })
  return {
    watch,
    told,
    failures,
    asked: () => asked,
    listeners: () => listeners,
    wake: () => wake(),
    verified,
  }
}

const held = (token: number, owner = `c:${token}`): HolderFacts => ({
  holder: owner,
  holdCount: 1,
  ttlMs: 30_000,
  token,
})
const free: HolderFacts = { holder: null, holdCount: 0, ttlMs: null, token: 9 }

async function all(looks: HolderFacts[]): Promise<(number | null)[]> {
  const { watch, told, asked } = watching(looks)
  watch.start()
  await eventually(() => asked() > looks.length)
  watch.stop()
  return told
}

test('a watch reports each term once, and the vacancies between terms', async () => {
  expect(await all([held(1), held(1), free, free, held(2), held(3), free])).toEqual([
    1,
    null,
    2,
    3,
    null,
  ])
})

test('a watch reports no earlier term after a later term, as a stale replica would show it', async () => {
  expect(await all([held(5), held(7), held(5), held(7), held(8)])).toEqual([5, 7, 8])
  expect(await all([held(5), held(7), free, held(5), free, held(8)])).toEqual([5, 7, null, 8])
})

test('a failed check is reported to the client, and the next check succeeds', async () => {
  const failure = new RedisUnavailableError('away')
  const { watch, told, failures } = watching([failure, held(1)])
  watch.start()
  await eventually(() => told.length === 1)
  watch.stop()
  expect(failures).toEqual([failure])
})

test('a watch ends with its client', async () => {
  const { watch, failures, asked, listeners } = watching([new ClosedError('closed')])
  watch.start()
  await eventually(() => !watch.isWatching)
  expect([failures, asked(), listeners()]).toEqual([[], 1, 0])
})

test('a watch reports a term of this process at once, and ignores an older check', async () => {
  const { watch, told, asked } = watching([free, held(2)], { everyMs: 5 })
  watch.start()
  watch.began({ label: null, owner: 'c:2', token: 2, ttlMs: 1 })
  await eventually(() => asked() > 2)
  watch.stop()
  expect(told).toEqual([2])
})

test('a message during a check causes another check', async () => {
  const { watch, told, wake } = watching([free, held(1)], { everyMs: 10_000 })
  watch.start()
  wake()
  await eventually(() => told.length === 2)
  watch.stop()
  expect(told).toEqual([null, 1])
})

test('a watch checks again when the lease of the leader ends, and later without a leader or a TTL', async () => {
  const ending = watching([{ ...held(1), ttlMs: 20 }, free], { everyMs: 10_000 })
  const vacant = watching([free, held(1)], { everyMs: 10_000 })
  const unending = watching([{ ...held(1), ttlMs: null }, free], { everyMs: 10_000 })
  for (const { watch } of [ending, vacant, unending]) watch.start()
  await eventually(() => ending.told.length === 2)
  expect([ending.told, vacant.told, unending.told]).toEqual([[1, null], [null], [1]])
  for (const { watch } of [ending, vacant, unending]) watch.stop()
})

test('a watch verifies the holder before it reports the term, unless the watch was stopped', async () => {
  const { watch, told, verified, failures } = watching([held(1)], { everyMs: 10_000 })
  watch.start()
  await eventually(() => told.length === 1)
  expect(verified).toEqual(['c:1'])
  watch.stop()
  watch.stop()
  watch.began({ label: null, owner: 'c:2', token: 2, ttlMs: 1 })
  const stopped = watching([new RedisUnavailableError('away')])
  stopped.watch.start()
  stopped.watch.stop()
  await new Promise(setImmediate)
  expect([told, failures, stopped.failures, stopped.verified]).toEqual([[1], [], [], []])
})

test('a watch does not report a state that this process does not accept', async () => {
  const { watch, told, asked } = watching([held(1), free], { accepts: false })
  watch.start()
  await eventually(() => asked() > 3)
  watch.stop()
  expect(told).toEqual([])
})

test('a stopped watch reports nothing and has no listener; a restarted watch reports the current state', async () => {
  const { watch, told, listeners, asked } = watching([held(1)], { everyMs: 10_000 })
  watch.start()
  watch.stop()
  expect(listeners()).toBe(0)
  watch.start()
  expect(listeners()).toBe(1)
  await eventually(() => told.length === 1)
  watch.stop()
  const before = asked()
  watch.check()
  expect([asked(), listeners(), told]).toEqual([before, 0, [1]])
})

test.each(['a', 'b/2 ~:{ü} %2F\n', '~', '€', 'a~b'])(
  'the label %j is found in the name of an owner',
  (label) => {
    const suffix = labelSuffix(label)
    expect(suffix).not.toMatch(/[\s/:{}]/)
    expect(labelIn(`client:17${suffix}`)).toBe(label)
    // The second attempt of a call has this owner name.
    expect(labelIn(`client:17${suffix}/2`)).toBe(label)
  },
)

test.each(['client:17', 'client:17/2', '8743c9c0:33', 'client:17~%', ''])(
  'there is no label in %j',
  (owner) => {
    expect(labelIn(owner)).toBeNull()
  },
)
