import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { beginJob, finishJob, inspectJob } from '../support/scripts.ts'

const server = sharedServer()

const [LOCK, JOB, RUNS] = ['it', 'holdfast_job:{it}', 'holdfast_runs:{it}'] as const
const KEPT_MS = 60_000
const YEAR_US = 365 * 86_400_000_000

/** A call with a negative `waitedMs` counts as if it began later. So a test needs no pause. */
const LATER = { waitedMs: -2 * KEPT_MS }

/** Gives the lock to the owner of a token, as if the last owner had lost the lock. */
async function hold(token: number): Promise<void> {
  await server.admin.del(LOCK)
  await server.admin.hset(LOCK, `owner ${token}`, 1)
}

const sendBegin = (
  token: number,
  { atLeastMs = KEPT_MS, everyMs = 0, tick = '' as number | '', repeats = '', waitedMs = 0 } = {},
  { keepMs = KEPT_MS, mostRuns = 3 } = {},
) =>
  server.admin.eval(
    ...([beginJob.source, 3, LOCK, JOB, RUNS, `owner ${token}`, token, 'it'] as const),
    ...[atLeastMs, everyMs, tick, repeats, waitedMs, keepMs, mostRuns],
  ) as Promise<[string, unknown, unknown, string[]?]>

async function begin(...given: Parameters<typeof sendBegin>) {
  await hold(given[0])
  return sendBegin(...given)
}

/** Begins a run. Returns the kind of the answer, and 1 if a call is served and reports a crash. */
async function answerOf(...given: Parameters<typeof sendBegin>) {
  const [kind, isNews] = await begin(...given)
  return kind === 'begun' ? kind : `${kind} ${isNews}`
}

const finish = (
  token: number,
  { state = 'done', result = '7', error = '', forgets = '', keepMs = KEPT_MS, mostRuns = 3 } = {},
) =>
  server.admin.eval(
    ...([finishJob.source, 2, JOB, RUNS] as const),
    ...[token, state, result, error, forgets, keepMs, mostRuns],
  )

const inspect = (most: number) =>
  server.admin.eval(inspectJob.source, 3, LOCK, JOB, RUNS, most) as Promise<
    [number, string, string[], string[]]
  >

const record = () => server.admin.hgetall(JOB)
/** The ended runs, newest first. */
const ended = async () => (await server.admin.lrange(RUNS, 0, -1)).map(fieldsOf)

function fieldsOf(json: string) {
  const texts = JSON.parse(json) as string[]
  return Object.fromEntries(texts.flatMap((name, i) => (i % 2 ? [] : [[name, texts[i + 1]]])))
}

beforeEach(async () => {
  await server.admin.del(LOCK, JOB, RUNS)
  atEnd(() => server.admin.del(LOCK, JOB, RUNS), { beforeCheck: true })
})

describe('the script that begins a run', () => {
  test('begins nothing and stores nothing without the lock', async () => {
    await hold(2)
    expect(await sendBegin(1)).toEqual(['lost'])
    expect(await server.admin.exists(JOB, RUNS)).toBe(0)
  })

  test('begins nothing with a token below the token of the last run', async () => {
    await begin(5)
    await finish(5)
    expect(await begin(4, { atLeastMs: 0, waitedMs: -KEPT_MS * 2 })).toEqual(['lost'])
    expect(await record()).toMatchObject({ token: '5', state: 'done' })
  })

  test('gives the same answer to a repeat of its request, and changes nothing', async () => {
    const first = await begin(1, { everyMs: 100, tick: 17 })
    expect(first).toEqual(['begun', expect.stringMatching(/^\d{16}$/), 0, []])
    const before = await record()
    expect(await sendBegin(1, { everyMs: 100, tick: 17 })).toEqual([...first.slice(0, 2), '0', []])
    expect(await record()).toEqual(before)
    expect(before).toEqual({
      token: '1',
      owner: 'owner 1',
      by: 'it',
      state: 'running',
      startedUs: first[1],
      untilUs: String(Number(first[1]) + KEPT_MS * 1_000),
      missed: '0',
      tick: '17',
      everyMs: '100',
    })
  })

  test.each(['', '1'])(
    'begins nothing if a copy of its request comes after the end of its run, forgets: %j',
    async (forgets) => {
      await begin(1, { atLeastMs: 0 })
      await finish(1, { state: 'failed', error: 'no', forgets })
      expect(await sendBegin(1, { atLeastMs: 0, waitedMs: -KEPT_MS })).toEqual(['lost'])
      expect(await record()).toMatchObject({ state: 'failed', error: 'no' })
      expect(await answerOf(2, { atLeastMs: 0, waitedMs: -KEPT_MS })).toBe('begun')
    },
  )

  test('reports a crash also to a repeat of its request, if it serves the call', async () => {
    await begin(1)
    const served = await begin(2)
    expect(served).toEqual(['served', 1, expect.arrayContaining(['crashed', 'owner 1'])])
    expect(await sendBegin(2)).toEqual(served)
    expect(await answerOf(3)).toBe('served 0')
    expect(await ended()).toMatchObject([{ token: '1', state: 'crashed' }])
  })

  test('reports a crash also to a repeat of its request, if it begins a run', async () => {
    await begin(1)
    const begun = await begin(2, { repeats: '1' })
    expect(begun).toMatchObject(['begun', expect.any(String), 0, expect.any(Array)])
    expect(fieldsOf(JSON.stringify(begun[3]))).toMatchObject({ token: '1', state: 'crashed' })
    const again = await sendBegin(2, { repeats: '1' })
    expect(again[3]).toEqual(begun[3])
    await finish(2)
    expect(await record()).not.toHaveProperty('earlier')
    expect((await ended()).map(({ token, state }) => [token, state])).toEqual([
      ['2', 'done'],
      ['1', 'crashed'],
    ])
  })

  test('a run that ended late is no crash for a repeat of the request that found it', async () => {
    await begin(1)
    await begin(2)
    await finish(1)
    expect(await sendBegin(2)).toEqual(['served', 0, expect.arrayContaining(['done'])])
  })

  test('a repeated run keeps the time and the tick of the run that crashed', async () => {
    await begin(1, { tick: 5 })
    const { untilUs } = await record()
    await begin(2, { repeats: '1', waitedMs: 10_000 })
    expect(await record()).toMatchObject({ token: '2', untilUs, tick: '5' })
  })

  test('a call of the next tick that repeats a run also serves the later calls of its own tick', async () => {
    await begin(1)
    const before = await record()
    await begin(2, { repeats: '1', waitedMs: -1_000 })
    const { untilUs } = await record()
    expect(Number(untilUs)).toBeGreaterThanOrEqual(Number(before.untilUs) + 1_000_000)
  })

  test('a call for another tick repeats the run that crashed, for the later of both ticks', async () => {
    for (const [token, tick, served] of [
      [1, 5, '5'],
      [2, 4, '5'],
      [3, 6, '6'],
    ] as const) {
      const [kind, , , crashed] = await begin(token, { tick, repeats: '1' })
      expect([kind, crashed?.length === 0]).toEqual(['begun', token === 1])
      expect(await record()).toMatchObject({ token: `${token}`, tick: served })
    }
  })

  test('serves a call that began before the end of the last run, or within its `atLeastMs`', async () => {
    await begin(1, { atLeastMs: 0 })
    await finish(1)
    await server.admin.hset(JOB, 'untilUs', `${(Date.now() - KEPT_MS) * 1_000}`)
    expect(await answerOf(2, { atLeastMs: 0, waitedMs: 1_000 })).toBe('served 0')
    expect(await answerOf(2, { atLeastMs: 0, waitedMs: -1_000 })).toBe('begun')
    await finish(2)
    await server.admin.hset(JOB, 'untilUs', `${(Date.now() + KEPT_MS) * 1_000}`)
    expect(await answerOf(3, { atLeastMs: 0, waitedMs: -1_000 })).toBe('served 0')
  })

  test('a call with a tick is served up to the last tick, whatever the times are', async () => {
    await begin(1, { tick: 10 })
    await finish(1)
    expect(await answerOf(2, { tick: 9, ...LATER })).toBe('served 0')
    expect(await answerOf(3, { tick: 10, ...LATER })).toBe('served 0')
    expect(await answerOf(4, { tick: 11 })).toBe('begun')
  })

  test('after the clock was set back, the last run serves calls only for its own `atLeastMs`', async () => {
    const [, startedUs] = await begin(1)
    await finish(1)
    for (const field of ['startedUs', 'endedUs', 'untilUs']) {
      await server.admin.hset(JOB, field, `${Number((await record())[field]) + YEAR_US}`)
    }
    expect(await answerOf(2)).toBe('served 0')
    const { startedUs: seen, endedUs, untilUs } = await record()
    expect(Number(endedUs)).toBeLessThan(Number(startedUs) + YEAR_US / 2)
    expect(Number(endedUs)).toBeGreaterThanOrEqual(Number(seen))
    expect(Number(untilUs) - Number(seen)).toBe(KEPT_MS * 1_000)
    expect(await answerOf(3, LATER)).toBe('begun')
  })

  test('missed ticks are counted from the start of the last run', async () => {
    await begin(1)
    await finish(1)
    await server.admin.hset(JOB, 'startedUs', `${(Date.now() - 3_100) * 1_000}`)
    const begun = await begin(2, { everyMs: 1_000, ...LATER })
    expect(begun).toEqual(['begun', expect.any(String), 2, []])
  })

  test('a call with a shorter `keepMs` does not shorten the time of the record', async () => {
    await begin(1)
    await finish(1)
    expect(await answerOf(2, {}, { keepMs: 10 })).toBe('served 0')
    for (const key of [JOB, RUNS]) expect(await server.admin.pttl(key)).toBeGreaterThan(KEPT_MS / 2)
  })

  test('fails on a key of another type, and does not change it', async () => {
    await hold(1)
    await server.admin.set(JOB, 'text')
    await expect(sendBegin(1)).rejects.toThrow(/WRONGTYPE/)
    expect(await server.admin.get(JOB)).toBe('text')
    await server.admin.del(LOCK, JOB)
    await server.admin.set(LOCK, 'text')
    await expect(sendBegin(1)).rejects.toThrow(/WRONGTYPE/)
    expect(await server.admin.exists(JOB)).toBe(0)
  })
})

describe('the script that stores the end of a run', () => {
  test('stores an outcome once, and gives the same answer to a repeat', async () => {
    await begin(1)
    const stored = await finish(1)
    expect(stored).toEqual(['stored', expect.any(Number)])
    const before = await record()
    expect(await finish(1, { result: '8' })).toEqual(stored)
    expect(await record()).toEqual(before)
    expect(await ended()).toEqual([before])
  })

  test('stores nothing if another run has begun, or the record is gone', async () => {
    expect(await finish(1)).toEqual(['replaced'])
    await begin(1)
    await begin(2, { repeats: '1' })
    expect(await finish(1)).toEqual(['replaced'])
    expect(await record()).toMatchObject({ token: '2', state: 'running' })
  })

  test('replaces the entry of a crash in the list', async () => {
    await begin(1)
    await begin(2)
    await finish(1, { state: 'failed', result: '', error: 'no' })
    expect(await ended()).toMatchObject([{ token: '1', state: 'failed', error: 'no' }])
  })

  test('keeps at most the given number of ended runs, and none for 0', async () => {
    for (let token = 1; token <= 3; token++) {
      await begin(token, { tick: token }, { mostRuns: 2 })
      await finish(token, { mostRuns: 2 })
    }
    expect((await ended()).map(({ token }) => token)).toEqual(['3', '2'])
    await server.admin.del(RUNS, JOB)
    await begin(1, {}, { mostRuns: 0 })
    await finish(1, { mostRuns: 0 })
    expect(await server.admin.exists(RUNS)).toBe(0)
  })

  test('fails on a key of another type', async () => {
    await server.admin.set(JOB, 'text')
    await expect(finish(1)).rejects.toThrow(/WRONGTYPE/)
  })
})

test('inspect() shows if the owner of the last run holds the lock, and the ended runs', async () => {
  expect(await inspect(3)).toEqual([0, expect.any(String), [], []])
  await begin(1)
  expect(await inspect(3)).toMatchObject([1, expect.any(String), expect.any(Array), []])
  await finish(1)
  await hold(2)
  const [isHeld, , , list] = await inspect(3)
  expect([isHeld, list]).toEqual([0, ['1', expect.stringContaining('done')]])
  expect((await inspect(0))[3]).toEqual([])
})
