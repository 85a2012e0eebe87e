// Lock and unlock without contention: one after another, many at a time, and nested. In each process, short blocks of
// the library and of the floor take turns, so both have the same load.
import { median, show, spreadOf } from '../figures.mjs'
import { withProcesses } from '../worker.mjs'

const BLOCK_MS = 40
/** After this time, the code is compiled and no longer interpreted. */
const WARM_UP_MS = 1_000
const IN_FLIGHT = 64
/** A JVM starts threads for each block, and needs a longer warm-up. */
const JVM_STRETCH = 5

/** The cost of Holdfast without the cost of its client. */
const OUR_SCRIPTS = {
  id: 'floor-scripts',
  module: 'floor-scripts',
  label: "Holdfast's scripts, called by ten lines",
  floor: true,
}

/** The cost of the fair lock without the cost of its client. */
const FAIR_SCRIPTS = {
  id: 'floor-fair-scripts',
  module: 'floor-fair-scripts',
  label: 'the scripts of the fair lock, called by ten lines',
  floor: true,
}

/** Acquires and releases in `inFlight` lanes for `ms`. Returns operations per second. */
async function lanes(lock, { name, inFlight, ms, isNested }, latencies) {
  if (lock.lanes) {
    const { rate, p50, p99 } = await lock.lanes(name, { inFlight, ms, isNested })
    latencies?.push(p50, p99)
    return rate
  }
  const end = performance.now() + ms
  let count = 0
  const lane = async (i) => {
    const own = `${name}:${i}`
    for (let now = performance.now(); now < end; count += 1) {
      const release = await lock.acquire(own)
      await release()
      const then = performance.now()
      latencies?.push(then - now)
      now = then
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: inFlight }, (_, i) => lane(i)))
  return (count / (performance.now() - start)) * 1_000
}

/** The same for a lock that the caller already holds. */
async function nested(lock, plan, latencies) {
  if (lock.lanes) return lanes(lock, { ...plan, isNested: true }, latencies)
  const { name, ms } = plan
  let rate
  await lock.nested(`${name}:nested`, async (acquire) => {
    rate = await lanes({ acquire }, { name, inFlight: 1, ms }, latencies)
  })
  return rate
}

export const tasks = {
  /** The blocks take turns, and the first block alternates. */
  async compare(lock, url, { name, inFlight, blocks, blockMs, warmUpMs, isNested }) {
    const { open } = await import('../libraries/floor-set.mjs')
    const floor = await open(url)
    const loop = isNested ? nested : lanes
    const stretch = lock.lanes ? JVM_STRETCH : 1
    const plans = {
      library: [
        lock,
        { name: `${name}:library:${process.pid}`, inFlight, ms: blockMs * stretch },
        [],
      ],
      floor: [floor, { name: `${name}:floor:${process.pid}`, inFlight, ms: blockMs }],
    }
    for (const [one, plan] of Object.values(plans)) {
      await loop(one, { ...plan, ms: warmUpMs * stretch })
    }
    const rates = []
    for (let i = 0; i < blocks; i += 1) {
      const order = i % 2 === 0 ? ['library', 'floor'] : ['floor', 'library']
      const pair = {}
      for (const which of order) pair[which] = await loop(...plans[which])
      rates.push(pair)
    }
    floor.close()
    return { rates, latency: spreadOf(plans.library[2]) }
  },
}

const describe = (id, title, about, chosen, plan) => ({
  id,
  title,
  about,
  async measure({ server, libraries, rounds, quick }) {
    const own = plan.isNested ? [OUR_SCRIPTS] : [OUR_SCRIPTS, FAIR_SCRIPTS]
    const rows = [...libraries.filter(chosen), ...own]
    const measured = rows.map((library) => ({ library, parts: [] }))
    for (let round = 0; round < rounds; round += 1) {
      for (const { library, parts } of measured) {
        const part = await withProcesses(1, library, server.url, ([process]) =>
          process.run('scenarios/uncontended', 'compare', server.url, {
            name: `${id}:${round}`,
            blocks: quick ? 4 : 10,
            blockMs: BLOCK_MS,
            warmUpMs: quick ? 60 : WARM_UP_MS,
            inFlight: 1,
            ...plan,
          }),
        )
        parts.push(part)
      }
    }
    const figures = measured.map(({ library, parts }) => {
      const rates = parts.flatMap((part) => part.rates)
      const latencies = parts.map(({ latency }) => latency)
      return {
        label: library.label,
        isFloor: library.floor,
        rate: median(rates.map((pair) => pair.library)),
        ratio: median(rates.map((pair) => pair.library / pair.floor)),
        p50: median(latencies.map(({ p50 }) => p50)),
        p99: median(latencies.map(({ p99 }) => p99)),
      }
    })
    return {
      tables: [
        {
          columns: ['library', 'per second', 'of floor', 'p50 ms', 'p99 ms'],
          rows: figures.map(({ label, rate, ratio, p50, p99 }) => [
            label,
            show(rate, 0),
            show(ratio),
            show(p50, 3),
            show(p99, 3),
          ]),
        },
      ],
      plots: [
        {
          name: id,
          title: `${title}: share of the floor's rate`,
          bars: figures.map(({ label, ratio, isFloor }) => ({ label, value: ratio, isFloor })),
        },
      ],
      ratios: figures
        .filter(({ label }) => label !== OUR_SCRIPTS.label)
        .map(({ label, ratio }) => ({ label, figure: 'rate', ratio })),
    }
  },
})

// The token is not a lock with a lease.
const hasLease = ({ id }) => id !== 'token'

export const scenarios = [
  describe(
    'a',
    'Lock and unlock, one after the other',
    'One process, one connection, no contention. The floor is two bare commands.',
    hasLease,
    {},
  ),
  describe(
    'b',
    `Lock and unlock, ${IN_FLIGHT} at a time`,
    `${IN_FLIGHT} locks of different names at a time, on one connection.`,
    hasLease,
    { inFlight: IN_FLIGHT },
  ),
  describe(
    'c',
    'Nested lock and unlock',
    'Inside code that holds the lock. The floor is one bare call of a counting script for each step.',
    ({ nests }) => nests,
    { isNested: true },
  ),
]
