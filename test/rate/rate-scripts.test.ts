import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'
import { acquireRate, giveBackRate, inspectRate, resetRate } from '../support/scripts.ts'

const server = sharedServer()

const KEYS = ['it', 'holdfast_rate:{it}'] as const

/** The clock of the scripts, in µs. */
let nowUs = 0
/** The server knows only its own clock, so most tests set no expiry. */
let setsExpiry = false

const START_US = 1_700_000_000_000_000
const SECOND_MS = 1_000

beforeEach(async () => {
  nowUs = START_US
  setsExpiry = false
  await server.admin.del(...KEYS)
})

afterEach(() => server.admin.del(...KEYS))

/** Runs a script, with the time of this test instead of the server's time. */
function run(source: string, ...args: (string | number)[]): Promise<unknown> {
  const time = `{ '${Math.floor(nowUs / 1e6)}', '${nowUs % 1e6}' }`
  const timed = source.replace("redis.call('TIME')", time)
  expect(timed).not.toBe(source)
  const lasting = timed.replaceAll("redis.call('PEXPIRE', ", 'ignore(')
  const script = setsExpiry ? timed : `local function ignore() end\n${lasting}`
  return server.admin.eval(script, 2, ...KEYS, ...args)
}

interface Asked {
  readonly permits?: number
  readonly perMs?: number
  readonly cost?: number
  readonly mostMs?: number | ''
  readonly again?: boolean
}

interface Answer {
  readonly kind: string
  readonly waitMs: number
  readonly atUs: number
}

async function acquire(id: string, asked: Asked = {}): Promise<Answer> {
  const { permits = 2, perMs = 60 * SECOND_MS, cost = 1, mostMs = '', again = false } = asked
  const answer = await run(
    acquireRate.source,
    ...[id, permits, perMs, cost, mostMs, again ? 1 : '', 0],
  )
  const [kind, waitUs, atUs] = answer as string[]
  return { kind: String(kind), waitMs: Number(waitUs) / 1_000, atUs: Number(atUs) }
}

const giveBack = (id: string, { atUs }: Answer, cost = 1) =>
  run(giveBackRate.source, id, atUs, cost)

async function inspect() {
  const [permits, perMs, used, waiting, waitUs] = (await run(inspectRate.source)) as string[]
  const numbers = { used: Number(used), waiting: Number(waiting), waitMs: Number(waitUs) / 1_000 }
  return { permits, perMs, ...numbers }
}

const pass = (ms: number) => {
  nowUs += ms * 1_000
}

test('the interval slides: each permit is free again when its own interval has passed', async () => {
  expect(await acquire('a')).toMatchObject({ kind: 'granted', waitMs: 0 })
  pass(40 * SECOND_MS)
  expect(await acquire('b')).toMatchObject({ kind: 'granted', waitMs: 0 })
  expect(await acquire('c', { mostMs: 0 })).toMatchObject({ kind: 'refused', waitMs: 20_000 })
  pass(20 * SECOND_MS - 1)
  expect(await acquire('c', { mostMs: 0 })).toMatchObject({ kind: 'refused', waitMs: 1 })
  pass(1)
  expect(await acquire('c', { mostMs: 0 })).toMatchObject({ kind: 'granted', waitMs: 0 })
  expect(await acquire('d', { mostMs: 0 })).toMatchObject({ kind: 'refused', waitMs: 40_000 })
})

test('calls get their times in order, and no call overtakes another', async () => {
  await acquire('a', { cost: 2 })
  expect(await acquire('b', { cost: 2 })).toMatchObject({ waitMs: 60_000 })
  expect(await acquire('c', { cost: 1 })).toMatchObject({ waitMs: 120_000 })
  expect(await acquire('d', { cost: 1 })).toMatchObject({ waitMs: 120_000 })
  expect(await acquire('e', { cost: 1, mostMs: 179_999 })).toMatchObject({ kind: 'refused' })
  expect(await inspect()).toMatchObject({ permits: '2', used: 2, waiting: 3, waitMs: 180_000 })
  pass(60 * SECOND_MS)
  expect(await inspect()).toMatchObject({ used: 2, waiting: 2, waitMs: 120_000 })
  pass(60 * SECOND_MS)
  expect(await inspect()).toMatchObject({ used: 2, waiting: 0, waitMs: 60_000 })
  pass(60 * SECOND_MS)
  expect(await inspect()).toMatchObject({ used: 0, waiting: 0, waitMs: 0 })
})

test('a copy of a request finds its grant, and counts no permits', async () => {
  await acquire('a')
  await acquire('b')
  const { atUs } = await acquire('c')
  pass(SECOND_MS)
  expect(await acquire('c', { again: true })).toEqual({ kind: 'granted', waitMs: 59_000, atUs })
  expect(await inspect()).toMatchObject({ used: 2, waiting: 1 })
  pass(59 * SECOND_MS)
  expect(await acquire('c', { again: true })).toEqual({ kind: 'granted', waitMs: 0, atUs })
  expect(await acquire('x', { again: true })).toMatchObject({ kind: 'granted' })
})

test('a grant that is given back does not let a later grant come too early', async () => {
  const one = { permits: 1 }
  await acquire('a', one)
  const b = await acquire('b', one)
  expect(await giveBack('b', b)).toBe(1)
  expect(await giveBack('b', b)).toBe(0)
  // The grant of `a` still counts, although the log has forgotten it.
  expect(await acquire('c', { ...one, mostMs: 0 })).toMatchObject({
    ...{ kind: 'refused', waitMs: 60_000 },
  })
  const c = await acquire('c', one)
  const d = await acquire('d', one)
  expect([c.waitMs, d.waitMs]).toEqual([60_000, 120_000])
  expect(await giveBack('c', c)).toBe(1)
  // The later call keeps its time.
  expect(await acquire('d', { ...one, again: true })).toMatchObject({ waitMs: 120_000 })
  expect(await acquire('e', one)).toMatchObject({ waitMs: 180_000 })
})

test('reset() deletes the grants of the past, and later calls still come after the waiting calls', async () => {
  await acquire('a', { cost: 2 })
  expect(await acquire('b', { cost: 2 })).toMatchObject({ waitMs: 60_000 })
  expect(await acquire('c', { cost: 2 })).toMatchObject({ waitMs: 120_000 })
  expect(await run(resetRate.source)).toBe(1)
  expect(await run(resetRate.source)).toBe(0)
  expect(await inspect()).toMatchObject({ used: 0, waiting: 2 })
  expect(await acquire('b', { again: true })).toMatchObject({ waitMs: 60_000 })
  expect(await acquire('d', { cost: 1 })).toMatchObject({ waitMs: 180_000 })
  pass(240 * SECOND_MS)
  expect(await run(resetRate.source)).toBe(1)
  expect(await server.admin.exists(...KEYS)).toBe(0)
})

test('after many calls were aborted, the next call waits only for the grants that still count', async () => {
  const one = { permits: 1 }
  await acquire('a', one)
  const ids = Array.from({ length: 20 }, (_, n) => `w${n}`)
  const grants: [string, Answer][] = []
  for (const id of ids) grants.push([id, await acquire(id, one)])
  // The grants in the middle first, and then from the last one to the first one.
  const middle = grants.splice(5, 5)
  for (const [id, grant] of [...middle, ...grants.reverse()])
    expect(await giveBack(id, grant)).toBe(1)
  expect(await acquire('next', one)).toMatchObject({ waitMs: 60_000 })
  expect(await inspect()).toMatchObject({ used: 1, waiting: 1 })
})

test('a call with a short interval does not shorten the life of grants with a long interval', async () => {
  setsExpiry = true
  await acquire('a', { permits: 9, perMs: 600_000 })
  pass(601_000)
  await acquire('b', { permits: 9, perMs: 100 })
  for (const key of KEYS) expect(await server.admin.pttl(key)).toBeGreaterThan(500_000)
})

test('a deleted grant still counts for a longer interval, even after a grant was given back', async () => {
  const [short, long] = [
    { permits: 1, perMs: 2_000 },
    { permits: 2, perMs: 3_000 },
  ]
  await acquire('a', short)
  pass(2_000)
  await acquire('b', short)
  expect(await server.admin.llen('it')).toBe(1)
  const c = await acquire('c', long)
  expect(c).toMatchObject({ waitMs: 1_000 })
  expect(await giveBack('c', c)).toBe(1)
  expect(await acquire('d', long)).toMatchObject({ waitMs: 1_000 })
})

test('a grant whose time has come cannot be given back', async () => {
  const a = await acquire('a')
  expect(await giveBack('a', a)).toBe(0)
  expect(await inspect()).toMatchObject({ used: 1 })
})

test('a smaller limit of another client counts the grants of the greater limit', async () => {
  await acquire('a', { permits: 5, cost: 5 })
  expect(await acquire('b', { permits: 2, mostMs: 0 })).toMatchObject({ kind: 'refused' })
  expect(await acquire('c', { permits: 6, mostMs: 0 })).toMatchObject({ kind: 'granted' })
})

test('after the clock of the server was set back, the interval continues', async () => {
  await acquire('a', { cost: 2 })
  pass(30 * SECOND_MS)
  expect(await inspect()).toMatchObject({ used: 2, waitMs: 30_000 })
  await acquire('x', { mostMs: 0 })
  pass(-3_600 * SECOND_MS)
  expect(await acquire('b', { mostMs: 0 })).toMatchObject({ kind: 'refused', waitMs: 30_000 })
  pass(29 * SECOND_MS)
  expect(await acquire('b', { mostMs: 0 })).toMatchObject({ kind: 'refused', waitMs: 1_000 })
  pass(SECOND_MS)
  expect(await acquire('b', { mostMs: 0 })).toMatchObject({ kind: 'granted', waitMs: 0 })
})

test('a request that only looks for a grant leaves no key without an expiry', async () => {
  setsExpiry = true
  expect(await acquire('a', { again: true, mostMs: -1 })).toMatchObject({ kind: 'refused' })
  expect(await server.admin.pttl(KEYS[1])).toBeGreaterThan(0)
  const a = await acquire('a')
  expect(await acquire('a', { again: true, mostMs: -1 })).toMatchObject({
    kind: 'granted',
    atUs: a.atUs,
  })
  expect(await acquire('b', { again: true, mostMs: -1 })).toMatchObject({ kind: 'refused' })
  expect(await inspect()).toMatchObject({ used: 1 })
})

test('a request that is too late is refused, and counts nothing', async () => {
  const args = ['a', 2, 60_000, 1, '', '', START_US - 1_000_000] as const
  expect(await run(acquireRate.source, ...args)).toEqual(['late', expect.any(String)])
  expect(await server.admin.exists(...KEYS)).toBe(0)
})

interface Grant {
  readonly atUs: number
  readonly cost: number
}

/** Returns the most permits that are granted in an interval of `perMs`. */
function mostIn(grants: readonly Grant[], perMs: number): number {
  const all = [...grants].sort((a, b) => a.atUs - b.atUs)
  return Math.max(
    0,
    ...all.map(({ atUs }) =>
      all
        .filter((one) => one.atUs <= atUs && one.atUs > atUs - perMs * 1_000)
        .reduce((sum, { cost }) => sum + cost, 0),
    ),
  )
}

/** Returns the first time, not before `fromUs`, at which a grant of `cost` exceeds no limit. */
function earliest(grants: readonly Grant[], fromUs: number, limit: Required<Asked>): number {
  const { permits, perMs, cost } = limit
  const times = [fromUs, ...grants.map(({ atUs }) => atUs + perMs * 1_000)]
  const fits = times.filter((atUs) => {
    const used = grants
      .filter((one) => one.atUs > atUs - perMs * 1_000)
      .reduce((sum, one) => sum + one.cost, 0)
    return atUs >= fromUs && used + cost <= permits
  })
  return Math.min(...fits)
}

const SEEDS = Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed])

test.each(SEEDS)('random calls get the earliest exact times: seed %i', async (seed) => {
  const random = randomOf(seed)
  const [permits, perMs] = [1 + random.below(6), 1 + random.below(20_000)]
  const grants: Grant[] = []
  for (let n = 0; n < 150; n++) {
    pass(random.below(3) * random.below(perMs))
    const cost = 1 + random.below(permits)
    const mostMs = random.below(3) === 0 ? random.below(2 * perMs) : ('' as const)
    const asked = { permits, perMs, cost, mostMs, again: false }
    const fromUs = Math.max(nowUs, grants.at(-1)?.atUs ?? 0)
    const expectedUs = earliest(grants, fromUs, asked)
    const answer = await acquire(`${n}`, asked)
    const waitMs = (expectedUs - nowUs) / 1_000
    if (mostMs !== '' && waitMs > mostMs) {
      expect(answer).toMatchObject({ kind: 'refused', waitMs })
    } else {
      expect(answer).toEqual({ kind: 'granted', waitMs, atUs: expectedUs })
      grants.push({ atUs: expectedUs, cost })
    }
  }
  expect(mostIn(grants, perMs)).toBeLessThanOrEqual(permits)
})

function limitOf(random: Random): Required<Pick<Asked, 'permits' | 'perMs'>> {
  return { permits: 1 + random.below(4), perMs: 1_000 * (1 + random.below(5)) }
}

test.each(SEEDS)(
  'each call is granted by its own limit, with other limits, aborted calls and a clock that is set back: seed %i',
  async (seed) => {
    const random = randomOf(seed + 1_000)
    const limits = [limitOf(random), limitOf(random)]
    let skewUs = 0
    const grants: (Grant & { readonly id: string; readonly limit: Required<Asked> })[] = []
    for (let n = 0; n < 150; n++) {
      pass(random.below(3) * random.below(4_000))
      if (random.below(10) === 0) {
        await acquire('none', { ...random.of(limits), mostMs: 0, cost: 1 }).then(
          ({ kind, atUs }) =>
            kind === 'granted' &&
            grants.push({ id: 'none', atUs, cost: 1, limit: asLimit(random.of(limits)) }),
        )
        const backUs = random.below(3_600) * 1_000_000
        nowUs -= backUs
        skewUs += backUs
      }
      const limit = random.of(limits)
      const cost = 1 + random.below(limit.permits)
      const answer = await acquire(`${n}`, { ...limit, cost })
      expect(answer.kind).toBe('granted')
      const { atUs } = answer
      expect(atUs).toBeGreaterThanOrEqual(nowUs + skewUs)
      const grant = { id: `${n}`, atUs, cost, limit: { ...asLimit(limit), cost } }
      const used = grants
        .filter((one) => one.atUs > atUs - limit.perMs * 1_000)
        .reduce((sum, one) => sum + one.cost, 0)
      expect(used + cost).toBeLessThanOrEqual(limit.permits)
      grants.push(grant)
      const aborted = random.below(3) === 0 ? random.of(grants) : undefined
      if (aborted && (await giveBack(aborted.id, answerOf(aborted), aborted.cost)) === 1) {
        expect(aborted.atUs).toBeGreaterThan(nowUs + skewUs)
        grants.splice(grants.indexOf(aborted), 1)
      }
    }
  },
)

const asLimit = (limit: { permits: number; perMs: number }): Required<Asked> => ({
  ...{ ...limit, cost: 1, mostMs: '', again: false },
})

const answerOf = ({ atUs }: Grant): Answer => ({ kind: 'granted', waitMs: 0, atUs })
