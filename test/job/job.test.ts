import { setTimeout as pause } from 'node:timers/promises'
import {
  ClosedError,
  Holdfast,
  InvalidArgumentError,
  type Job,
  type JobCrashedEvent,
  type JobOptions,
  LeaseLostError,
  type RunRecord,
} from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { type OptionsOfBoth, redisAndMemory } from '../support/redis-and-memory.ts'

const { server, places } = redisAndMemory()

/** No other run begins within this time, in milliseconds. */
const LONG_MS = 600_000

let names = 0

describe.each(places)('a job on $place', ({ make }) => {
  let name = 'it'
  beforeEach(() => {
    name = `job-${++names}`
    // Runs after the clients are closed.
    const forget = async () => {
      const keys = await server.admin.keys('holdfast_*:{*job-*')
      if (keys.length > 0) await server.admin.del(...keys)
    }
    atEnd(forget, { beforeCheck: true })
  })

  const newClient = (options: OptionsOfBoth = {}) => {
    const client = make(options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const jobOf = (options: JobOptions = { atLeastMs: LONG_MS }, client = newClient()) =>
    client.job(name, options)

  /** Begins a run, and ends its hold as if the process had crashed. Returns a function that ends the work. */
  const crash = async (job: Job, options = {}) => {
    const [begun, work] = [deferred<void>(), deferred<void>()]
    const run = job
      .run(() => {
        begun.resolve()
        return work.promise
      }, options)
      .catch((error: unknown) => error)
    await begun.promise
    await newClient().getLock(`job:${name}`).forceUnlock()
    return async () => {
      work.resolve()
      return run
    }
  }

  test('runs once for calls of several clients at about the same time', async () => {
    const jobs = [jobOf(), jobOf(), jobOf()]
    let runs = 0
    const work = async () => {
      runs += 1
      await pause(20)
      return { rows: 3 }
    }
    const outcomes = await Promise.all(jobs.map((job) => job.run(work)))
    const late = await (jobs[0] as Job).run(work)
    expect(runs).toBe(1)
    expect(outcomes.filter(({ ran }) => ran)).toEqual([
      { ran: true, result: { rows: 3 }, durationMs: expect.any(Number) },
    ])
    expect(late).toMatchObject({ ran: false, why: 'served', run: { state: 'done' } })
  })

  test('another call learns that the job is running, even in the same client', async () => {
    const client = newClient()
    const work = deferred<void>()
    const running = jobOf({ atLeastMs: LONG_MS }, client).run(() => work.promise)
    await eventually(async () => (await client.lastRun(name))?.state === 'running')
    const expected = { ran: false, why: 'running', run: null }
    expect(await jobOf({ atLeastMs: LONG_MS }, client).run(() => {})).toEqual(expected)
    expect(await jobOf().run(() => {})).toEqual(expected)
    work.resolve()
    expect(await running).toMatchObject({ ran: true })
  })

  test('runs again when `atLeastMs` has passed since the start, and not sooner', async () => {
    const job = jobOf({ atLeastMs: 400 })
    const starts: number[] = []
    const work = ({ startedAt }: { startedAt: Date }) => void starts.push(startedAt.getTime())
    await job.run(work)
    await eventually(async () => (await job.run(work)).ran)
    expect((starts[1] as number) - (starts[0] as number)).toBeGreaterThanOrEqual(400)
  })

  test('close() does not undo `atLeastMs`', async () => {
    const client = newClient()
    await jobOf({ atLeastMs: LONG_MS }, client).run(() => 'first')
    await client.close()
    expect(await jobOf().run(() => 'second')).toMatchObject({
      ran: false,
      why: 'served',
      run: { result: 'first' },
    })
  })

  test('runs once per tick, although `atLeastMs` has passed or has not passed', async () => {
    const [one, two] = [jobOf({}), jobOf({ everyMs: 60_000 })]
    const tick = new Date(1_800_000_000_000)
    expect(await one.run(() => 1, { tick })).toMatchObject({ ran: true })
    expect(await two.run(() => 2, { tick: tick.getTime() })).toMatchObject({
      why: 'served',
      run: { tick, result: 1 },
    })
    expect(await two.run(() => 3, { tick: tick.getTime() - 1 })).toMatchObject({ why: 'served' })
    expect(await two.run(() => 4, { tick: tick.getTime() + 1 })).toMatchObject({ result: 4 })
  })

  test('the function receives its name, a rising token, the start, and a signal', async () => {
    const job = jobOf({ atLeastMs: 1 })
    const tokens: number[] = []
    for (let i = 0; i < 2; i++) {
      await pause(5)
      await job.run(({ token, startedAt, signal, crashed, missed, name: own }) => {
        tokens.push(token)
        expect({ own, crashed, missed }).toEqual({ own: name, crashed: null, missed: 0 })
        expect(signal.aborted).toBe(false)
        expect(Math.abs(startedAt.getTime() - Date.now())).toBeLessThan(60_000)
      })
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0] as number)
  })

  test('an error of the function reaches the caller and the record, and the tick is not repeated', async () => {
    const job = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' })
    const failing = () => Promise.reject(new TypeError('no rows'))
    await expect(job.run(failing)).rejects.toThrow('no rows')
    expect(await jobOf().run(() => {})).toMatchObject({
      why: 'served',
      run: { state: 'failed', error: 'TypeError: no rows', result: undefined },
    })
  })

  test('lastRun() and inspect() return the runs, with client, times, result and error', async () => {
    const client = newClient({ label: 'worker 1' })
    expect(await client.lastRun(name)).toBeNull()
    const job = jobOf({ atLeastMs: 1 }, client)
    expect(await job.inspect()).toEqual({ last: null, ended: [], missed: 0 })
    await job.run(() => ({ sent: 7 }))
    await pause(5)
    await expect(job.run(() => Promise.reject('bad'))).rejects.toBe('bad')
    const last = (await newClient().lastRun(name)) as RunRecord
    expect(last).toEqual({
      state: 'failed',
      token: expect.any(Number),
      by: 'worker 1',
      owner: expect.stringContaining(client.id),
      startedAt: expect.any(Date),
      endedAt: expect.any(Date),
      durationMs: expect.any(Number),
      tick: null,
      missed: 0,
      result: undefined,
      error: 'bad',
    })
    const { ended } = await job.inspect()
    expect(ended).toHaveLength(2)
    expect(ended[0]).toEqual(last)
    expect(ended[1]).toMatchObject({ state: 'done', result: { sent: 7 }, error: null })
  })

  test('at most 100 ended runs are kept', async () => {
    const job = jobOf({})
    for (let tick = 1; tick <= 103; tick++) await job.run(() => tick, { tick })
    const { ended } = await job.inspect()
    expect(ended.map(({ result }) => result)).toEqual(
      Array.from({ length: 100 }, (_, i) => 103 - i),
    )
  })

  test('a result without JSON, or with more than 10,000 characters of JSON, is not stored', async () => {
    const job = jobOf({})
    const results = [undefined, 1n, 'x'.repeat(10_000), 'y'.repeat(9_998)]
    const stored: unknown[] = []
    for (const [tick, result] of results.entries()) {
      expect(await job.run(() => result, { tick })).toMatchObject({ ran: true, result })
      stored.push((await job.inspect()).last?.result)
    }
    expect(stored).toEqual([undefined, undefined, undefined, 'y'.repeat(9_998)])
  })

  test('missed ticks are counted from `everyMs`', async () => {
    const job = jobOf({ atLeastMs: 1, everyMs: 100 })
    await job.run(() => {})
    await eventually(async () => (await job.inspect()).missed >= 2)
    let missed = 0
    await job.run((run) => {
      missed = run.missed
    })
    expect(missed).toBeGreaterThanOrEqual(2)
    expect((await job.inspect()).last?.missed).toBe(missed)
  })

  describe('whose process has crashed', () => {
    test('is not repeated with `skip`, and the crash is reported once', async () => {
      const end = await crash(jobOf())
      const client = newClient()
      const events: JobCrashedEvent[] = []
      client.on('jobCrashed', (event) => events.push(event))
      expect(await client.lastRun(name)).toMatchObject({ state: 'crashed', endedAt: null })
      for (let i = 0; i < 2; i++) {
        expect(await jobOf({ atLeastMs: LONG_MS }, client).run(() => 'again')).toMatchObject({
          why: 'served',
          run: { state: 'crashed', durationMs: null },
        })
      }
      expect(events).toMatchObject([{ name, isRepeated: false, run: { state: 'crashed' } }])
      expect((await jobOf().inspect()).ended).toMatchObject([{ state: 'crashed' }])
      expect(await end()).toBeInstanceOf(LeaseLostError)
    })

    test('is repeated with `repeat`, with a report, and the next tick keeps its time', async () => {
      const end = await crash(jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' }))
      const client = newClient()
      const events: JobCrashedEvent[] = []
      client.on('jobCrashed', (event) => events.push(event))
      const job = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' }, client)
      let crashed: RunRecord | null = null
      const outcome = await job.run((run) => {
        crashed = run.crashed
        return 'again'
      })
      expect(outcome).toMatchObject({ ran: true, result: 'again' })
      expect(crashed).toMatchObject({ state: 'crashed', error: null })
      expect(events).toMatchObject([{ name, isRepeated: true }])
      expect(await job.run(() => 'third')).toMatchObject({ why: 'served' })
      const { ended } = await job.inspect()
      expect(ended.map(({ state }) => state)).toEqual(['done', 'crashed'])
      expect(await end()).toBeInstanceOf(LeaseLostError)
    })

    test('a call that waits with `repeat` repeats the run at once', async () => {
      const job = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' })
      const work = deferred<void>()
      const dying = job.run(() => work.promise).catch((error: unknown) => error)
      const other = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' })
      await eventually(async () => (await job.inspect()).last?.state === 'running')
      const waiting = other.run(() => 'again')
      await eventually(async () => (await newClient().getLock(`job:${name}`).inspect()).waiters > 0)
      await newClient().getLock(`job:${name}`).forceUnlock()
      expect(await waiting).toMatchObject({ ran: true, result: 'again' })
      work.resolve()
      expect(await dying).toBeInstanceOf(LeaseLostError)
    })

    test('a run that ends after another call has found its crash is stored as done', async () => {
      const end = await crash(jobOf())
      await jobOf().run(() => 'again')
      await end()
      const { last, ended } = await jobOf().inspect()
      expect(last?.state).toBe('done')
      expect(ended).toMatchObject([{ state: 'done' }])
    })

    test('a run that ends after the next run has begun changes nothing', async () => {
      const end = await crash(jobOf({}), { tick: 1 })
      await jobOf({}).run(() => 'second', { tick: 2 })
      await end()
      const { last, ended } = await jobOf().inspect()
      expect(last).toMatchObject({ result: 'second', tick: new Date(2) })
      expect(ended.map(({ state }) => state)).toEqual(['done', 'crashed'])
    })

    test('the same tick is repeated only with `repeat`', async () => {
      const end = await crash(jobOf({}), { tick: 1 })
      expect(await jobOf({}).run(() => 'again', { tick: 1 })).toMatchObject({ why: 'served' })
      const repeating = jobOf({ ifCrashed: 'repeat' })
      expect(await repeating.run(() => 'again', { tick: 1 })).toMatchObject({ result: 'again' })
      expect(await repeating.run(() => 'again', { tick: 1 })).toMatchObject({ why: 'served' })
      await end()
    })
  })

  test('a call that waited while a long run ended does not run the job again', async () => {
    const options = { atLeastMs: 1, ifCrashed: 'repeat' } as const
    const job = jobOf(options)
    const work = deferred<void>()
    const running = job.run(() => work.promise)
    await eventually(async () => (await job.inspect()).last?.state === 'running')
    let runs = 0
    const waiting = jobOf(options).run(() => {
      runs += 1
    })
    await eventually(async () => (await newClient().getLock(`job:${name}`).inspect()).waiters > 0)
    work.resolve()
    expect(await waiting).toMatchObject({ ran: false, why: 'served', run: { state: 'done' } })
    await running
    expect(runs).toBe(0)
  })

  test('`atMostMs` aborts the signal, and then another run may begin', async () => {
    const [one, two] = [jobOf({ atLeastMs: 1, atMostMs: 300 }), jobOf({ atLeastMs: 1 })]
    const aborted = deferred<void>()
    const long = one.run(async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      await aborted.promise
      await eventually(async () => (await two.run(() => 'next')).ran)
    })
    await expect(long).rejects.toThrow(LeaseLostError)
    expect((await two.inspect()).last).toMatchObject({ result: 'next' })
  })

  test('close() aborts the signal of a run, and the run counts as crashed', async () => {
    const client = newClient()
    const begun = deferred<AbortSignal>()
    const running = jobOf({ atLeastMs: LONG_MS }, client)
      .run(async ({ signal }) => {
        begun.resolve(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
      .catch((error: unknown) => error)
    const signal = await begun.promise
    await client.close()
    expect(signal.reason).toBeInstanceOf(ClosedError)
    expect(await running).toBeInstanceOf(ClosedError)
    expect(await newClient().lastRun(name)).toMatchObject({ state: 'crashed' })
  })

  test('an aborted call does not wait, and does not run', async () => {
    const job = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' })
    const work = deferred<void>()
    const running = job.run(() => work.promise)
    await eventually(async () => (await job.inspect()).last?.state === 'running')
    const abort = new AbortController()
    const waiting = jobOf({ atLeastMs: LONG_MS, ifCrashed: 'repeat' }).run(() => 'never', {
      signal: abort.signal,
    })
    await never(async () => false, 50)
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    work.resolve()
    await running
  })

  describe('runOnce()', () => {
    const once = (key: string, fn: () => unknown, more = {}, client = newClient()) =>
      client.runOnce(name, key, fn, { keepMs: LONG_MS, ...more })

    test('runs once for each key, and later calls get the stored result', async () => {
      let runs = 0
      const work = async () => {
        await pause(20)
        return ++runs
      }
      const client = newClient()
      const calls = [once('a', work), once('a', work, {}, client), once('a', work, {}, client)]
      const outcomes = await Promise.all(calls)
      expect(runs).toBe(1)
      expect(outcomes.filter(({ ran }) => ran)).toHaveLength(1)
      for (const outcome of outcomes) {
        if (!outcome.ran) expect(outcome).toMatchObject({ why: 'served', run: { result: 1 } })
      }
      expect(await once('b', work)).toMatchObject({ ran: true, result: 2 })
    })

    test('runs again after an error', async () => {
      await expect(once('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
      expect(await once('a', () => 'yes')).toMatchObject({ ran: true, result: 'yes' })
    })

    test('runs again when `keepMs` has passed', async () => {
      await once('a', () => 1, { keepMs: 300 })
      expect(await once('a', () => 2, { keepMs: 300 })).toMatchObject({ ran: false })
      await eventually(async () => (await once('a', () => 3, { keepMs: 300 })).ran)
    })

    test.each([
      ['a:b', 'c', 'a', 'b:c'],
      ['a%3Ab', 'c', 'a:b', 'c'],
      ['a%', 'c', 'a%25', 'c'],
      ['a:', 'c', 'a', ':c'],
    ])('the names and keys %s %s and %s %s have different runs', async (a, key, b, otherKey) => {
      const client = newClient()
      const options = { keepMs: 60_000 }
      await client.runOnce(`${name}${a}`, key, () => 1, options)
      const other = await client.runOnce(`${name}${b}`, otherKey, () => 2, options)
      expect(other).toMatchObject({ ran: true, result: 2 })
      const again = await client.runOnce(`${name}${a}`, key, () => 3, options)
      expect(again).toMatchObject({ ran: false, run: { result: 1 } })
    })

    test('after a crash, runs again by default, and not with `skip`', async () => {
      const work = deferred<void>()
      const dying = once('a', () => work.promise).catch((error: unknown) => error)
      const lock = newClient().getLock(`once:${name}:a`)
      await eventually(() => lock.isLocked())
      await pause(50)
      await lock.forceUnlock()
      const skipping = await once('a', () => 'again', { ifCrashed: 'skip' })
      expect(skipping).toMatchObject({ why: 'served', run: { state: 'crashed' } })
      expect(await once('a', () => 'again')).toMatchObject({ ran: true, result: 'again' })
      work.resolve()
      expect(await dying).toBeInstanceOf(LeaseLostError)
    })
  })

  test('invalid input is refused at once', async () => {
    const client = newClient()
    const refused = (call: () => unknown) => {
      let error: unknown
      try {
        const result = call()
        if (result instanceof Promise) return result.catch((failure: unknown) => failure)
      } catch (thrown) {
        error = thrown
      }
      return Promise.resolve(error)
    }
    // biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
    const any = client as any
    const calls: [() => unknown, string][] = [
      [() => client.job(''), 'empty'],
      [() => client.job(name, { atLeastMs: -1 }), '`atLeastMs`'],
      [() => client.job(name, { atMostMs: 5 }), '`atMostMs`'],
      [() => client.job(name, { atLeastMs: 60_000, everyMs: 60_000 }), 'ticks are skipped'],
      [() => any.job(name, { ifCrashed: 'retry' }), "'skip' or 'repeat'"],
      [() => any.job(name, { atLeast: 1 }), 'There is no option `atLeast`'],
      [() => any.job(name, { atLeastMs: 1 }).run(), 'must be a function'],
      [() => client.job(name).run(() => {}), 'needs a `tick`'],
      [() => client.job(name).run(() => {}, { tick: new Date(Number.NaN) }), '`tick`'],
      [() => any.runOnce(name, 'key', () => {}), '`keepMs`'],
      [() => any.runOnce(name, '', () => {}, { keepMs: 1 }), 'empty'],
      [() => any.runOnce(name, 'key', 'work', { keepMs: 1 }), 'must be a function'],
    ]
    for (const [call, words] of calls) {
      const error = (await refused(call)) as Error
      expect(error).toBeInstanceOf(InvalidArgumentError)
      expect(error.message).toContain(words)
    }
  })
})

test('a client with independent masters refuses jobs, and shows the name of the job', async () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
  atEnd(() => client.close(), { beforeCheck: true })
  const words = 'Job "nightly": its record needs one server'
  expect(() => client.job('nightly')).toThrow(words)
  await expect(client.lastRun('nightly')).rejects.toThrow(words)
  const once = client.runOnce('nightly', 'key', () => 1, { keepMs: 1_000 })
  await expect(once).rejects.toThrow(words)
})
