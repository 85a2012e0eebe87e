import type { Job, JobOptions, RunOptions } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { newSetting } from '../commands/setting.ts'
import { diagnose, holdfast, steady } from '../doctor/diagnose.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Detail, TableRow } from '../support/printed.ts'

const { server, newClient, inspected } = newSetting()

const LONG = { atLeastMs: 600_000 } satisfies JobOptions

/** Begins a run, which ends with the returned function. */
async function begin(job: Job, options: RunOptions = {}) {
  const [begun, work] = [deferred<void>(), deferred<unknown>()]
  const run = job.run(() => {
    begun.resolve()
    return work.promise
  }, options)
  run.catch(() => undefined)
  await begun.promise
  const end = async (result?: unknown) => {
    work.resolve(result)
    await run.catch(() => undefined)
  }
  atEnd(end, { beforeCheck: true })
  return end
}

/** Begins a run, and ends its hold as if the process had crashed. */
async function crash(name: string, options: JobOptions = LONG) {
  await begin(newClient({ label: 'api-9' }).job(name, options))
  await newClient().getLock(`job:${name}`).forceUnlock()
}

/** Moves the start of the last run into the past. */
async function age(name: string, ms: number) {
  const key = `holdfast_job:{job:${name}}`
  const startedUs = Number(await server.admin.hget(key, 'startedUs'))
  await server.admin.hset(key, 'startedUs', startedUs - ms * 1_000)
}

const fail = () => Promise.reject(new RangeError('no paper'))
const listed = async (...options: string[]) => {
  const { out } = await holdfast(['list', server.url, '--json', ...options])
  return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
const text = async (name: string) =>
  (await holdfast(['inspect', name, server.url, '--look-ms', '0'])).out

test('a job that runs is held, with its holder', async () => {
  const client = newClient({ label: 'api-7' })
  const end = await begin(client.job('nightly', LONG))
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  const [row, ...others] = await listed('--held')
  expect(others).toEqual([])
  expect(row).toMatchObject({
    ...{ name: 'job:nightly', kind: 'job', state: 'held', stateText: 'running' },
    ...{ waiting: 0, holders: [{ process: { label: 'api-7' } }] },
    job: { last: { state: 'running', by: 'api-7', endedAt: null }, missed: 0, ended: [] },
  })
  expect(row.holders[0].ageMs).toBeGreaterThanOrEqual(0)
  expect(row.problem).toBeUndefined()
  const table = await holdfast(['list', server.url])
  expect(table.out).toMatch(/job:nightly +job +running +api-7/)
  await end()
  expect(await listed()).toEqual([])
  expect(await listed('--all')).toMatchObject([{ kind: 'job', state: 'free', stateText: 'done' }])
})

test('inspect shows the last run, and the runs that have ended', async () => {
  const job = newClient({ label: 'api-7' }).job('nightly', LONG)
  for (let tick = 1; tick <= 12; tick++) await job.run(() => ({ pages: tick }), { tick })
  await job.run(fail, { tick: 13 }).catch(() => undefined)
  const out = await text('job:nightly')
  expect(out).toMatch(/kind +job\n +state +failed\n/)
  expect(out).toMatch(
    /last run +failed, by api-7, begun 20\d\d-\d\d-\d\dT[\d:.]+Z\n +took +\d+ ms\n/,
  )
  expect(out).toMatch(
    /tick +1970-01-01T00:00:00.013Z\n +error +RangeError: no paper\n +missed +none/,
  )
  expect(out).toMatch(/Ended runs\n +BEGUN .*RESULT OR ERROR\n.*failed.*RangeError: no paper\n/)
  expect(out).toContain('{"pages":4}')
  expect(out).not.toContain('{"pages":3}')
  expect(out).toContain('and 3 more')
  expect(out).toContain('Nothing: the job does not run.')
  const { job: info, problem } = await inspected('job:nightly')
  expect(problem).toBe('The last run failed.')
  expect(info?.last).toMatchObject({ state: 'failed', error: 'RangeError: no paper' })
  expect(info?.ended.map(({ state }) => state)).toEqual(['failed', ...Array(12).fill('done')])
  expect(info?.ended[12]).toMatchObject({ result: { pages: 1 }, tick: '1970-01-01T00:00:00.001Z' })
})

test('a long result and invisible characters do not damage the text', async () => {
  const job = newClient({ label: 'api\n7' }).job('nightly', LONG)
  await job.run(() => 'x'.repeat(500))
  const out = await text('job:nightly')
  expect(out).toContain('by api\\n7')
  expect(out).toContain(`"${'x'.repeat(199)}… and 302 more characters`)
})

test('a failed, crashed or late job is listed without --all', async () => {
  const client = newClient()
  await client
    .job('failed', LONG)
    .run(fail)
    .catch(() => undefined)
  await client.job('done', LONG).run(() => 1)
  await crash('crashed')
  await client.job('late', { atLeastMs: 1_000, everyMs: 60_000 }).run(() => 1)
  await client.job('in-time', { atLeastMs: 1_000, everyMs: 60_000 }).run(() => 1)
  await age('late', 220_000)
  await age('in-time', 80_000)
  await crash('both', { atLeastMs: 1_000, everyMs: 60_000 })
  await age('both', 100_000)
  const rows = await listed()
  const found = rows.map(({ name, stateText }) => [name, stateText]).sort()
  expect(found).toEqual([
    ['job:both', 'crashed, 1 tick missed'],
    ['job:crashed', 'crashed'],
    ['job:failed', 'failed'],
    ['job:late', '3 ticks missed'],
  ])
  expect(rows.map(({ state }) => state)).toEqual(Array(4).fill('free'))
  expect(rows.find(({ name }) => name === 'job:both').problem).toBe(
    'The last run has crashed. 1 tick missed since the last run began.',
  )
  expect(await text('job:late')).toMatch(/missed +3 ticks\n/)
})

test('a job is listed after the counter of its lock is gone', async () => {
  await newClient()
    .job('nightly', LONG)
    .run(() => 1)
  await server.admin.del('redisson_lock_token:{job:nightly}')
  expect(await listed('--all')).toMatchObject([{ kind: 'job', stateText: 'done', token: null }])
  expect((await inspected('job:nightly')).job?.last?.state).toBe('done')
})

test('the record of runOnce is not listed, and its lock is a free lock', async () => {
  const client = newClient({ keyPrefix: 'app:' })
  await client.runOnce('invoice', 'order-1', () => 'sent', { keepMs: 60_000 })
  expect(await listed()).toEqual([])
  const rows = await listed('--all', '--key-prefix', 'app:')
  expect(rows).toMatchObject([{ name: 'once:invoice:order-1', kind: 'lock', stateText: 'free' }])
  expect(await server.admin.exists('holdfast_once:{app:once:invoice:order-1}')).toBe(1)
})

test('a lock whose name looks like a job, but that has no record, is a lock', async () => {
  const lock = newClient().getLock('job:nightly')
  const lease = await lock.lock()
  expect(await listed()).toMatchObject([{ kind: 'lock', stateText: 'held' }])
  await lease.release()
  expect(await listed('--all')).toMatchObject([{ kind: 'lock', stateText: 'free' }])
  await server.admin.hset('holdfast_job:{job:nightly}', 'a', '1', 'result', 'no JSON')
  expect(await listed('--all')).toMatchObject([{ kind: 'lock', stateText: 'free' }])
})

test('inspect reads runs only if the name looks like a job', async () => {
  const costOf = async (name: string) => {
    await newClient({ presence: false }).getLock(name).lock()
    const { err } = await holdfast(['inspect', name, server.url, '--look-ms', '0'])
    return Number(/(\d+) commands/.exec(err)?.[1])
  }
  const usual = await costOf('nightly')
  expect(usual).toBeGreaterThan(0)
  expect(await costOf('job:nightly')).toBe(usual + 2)
})

test('release --force takes the lock of a run, and its record shows a crash', async () => {
  await begin(newClient().job('nightly', LONG))
  const { code, err } = await holdfast(['release', 'job:nightly', server.url, '--force', '--yes'])
  expect([code, err]).toEqual([0, expect.any(String)])
  expect(await inspected('job:nightly')).toMatchObject({ state: 'free', stateText: 'crashed' })
})

test('leaks finds a record without an expiry, and doctor finds nothing for usual jobs', async () => {
  const client = newClient()
  await client.job('nightly', LONG).run(() => 1)
  await begin(client.job('hourly', LONG))
  expect(steady(await diagnose([server.url, '--ignore', 'no-persistence']))).toEqual([])
  expect((await holdfast(['leaks', server.url])).code).toBe(0)
  await server.admin.persist('holdfast_job:{job:nightly}')
  await server.admin.persist('holdfast_runs:{job:nightly}')
  const { code, out } = await holdfast(['leaks', server.url])
  expect(code).toBe(1)
  expect(out).toContain('holdfast_job:{job:nightly}')
  expect(out).toContain('holdfast_runs:{job:nightly}')
})

test('the dashboard shows the runs in the panel, and a problem in the row', async () => {
  const job = newClient({ label: 'api-7' }).job('nightly', LONG)
  for (let tick = 1; tick <= 12; tick++) await job.run(() => 'x'.repeat(2_000), { tick })
  await job.run(fail, { tick: 13 }).catch(() => undefined)
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'read' })
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const read = async (path: string) =>
    (await dashboard.fetch(new Request(`http://localhost/api/${path}`))).json()
  const { rows } = (await read('rows')) as { rows: TableRow[] }
  const state = { kind: 'job', stateText: 'failed', problem: 'The last run failed.' }
  expect(rows).toMatchObject([{ key: 'job:nightly', ...state }])
  expect(rows[0]).not.toHaveProperty('job')
  const { lock: detail } = (await read('lock?key=job:nightly')) as { lock: Detail }
  expect(detail).toMatchObject(state)
  const { last, ended = [], missed } = detail.job ?? {}
  expect(last).toMatchObject({ state: 'failed', by: 'api-7', error: 'RangeError: no paper' })
  expect(Math.abs(Date.now() - (last?.startedAt ?? 0))).toBeLessThan(60_000)
  expect([ended.length, missed]).toEqual([10, 0])
  expect(ended[1]).toMatchObject({ state: 'done', tick: 12, result: null })
})
