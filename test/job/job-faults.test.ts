import {
  type Holdfast,
  type HoldfastOptions,
  type JobCrashedEvent,
  type JobOptions,
  LeaseLostError,
} from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type Fault, faults } from '../support/request-faults.ts'
import { acquire, beginJob, finishJob, release } from '../support/scripts.ts'

const rig = faultRig()

/** With this limit, the client soon gives up a request that the proxy holds back. */
const HASTY = { commandTimeoutMs: scaledMs(100) }

/** No other run begins within this time, in milliseconds. */
const LONG_MS = 600_000

let name = 'it'
let names = 0

beforeEach(() => {
  name = `job-${++names}`
  const forget = async () => {
    const keys = await rig.server.admin.keys('holdfast_*:{*job-*')
    if (keys.length > 0) await rig.server.admin.del(...keys)
  }
  atEnd(forget, { beforeCheck: true })
})

const jobOf = (client: Holdfast, options: JobOptions = { atLeastMs: LONG_MS }) =>
  client.job(name, options)

const hasty = async (options: Omit<HoldfastOptions, 'redis'> = {}) => {
  const client = rig.client({ ...HASTY, ...options })
  await client.job(name).inspect()
  return client
}

const isRunning = async (client: Holdfast) => (await client.lastRun(name))?.state === 'running'

function crashesOf(client: Holdfast): JobCrashedEvent[] {
  const events: JobCrashedEvent[] = []
  client.on('jobCrashed', (event) => events.push(event))
  return events
}

/** Begins a run, and ends its hold as if the process had died. */
async function crash(options: JobOptions): Promise<void> {
  const [client, work] = [rig.witness(), deferred<void>()]
  const dying = jobOf(client, options).run(() => work.promise)
  const dead = dying.catch((error: unknown) => error)
  await eventually(() => isRunning(client))
  // This end of the run is not stored.
  const lost = rig.witness().getLock(`job:${name}`)
  await lost.forceUnlock()
  atEnd(
    async () => {
      work.resolve()
      expect(await dead).toBeInstanceOf(LeaseLostError)
    },
    { beforeCheck: true },
  )
}

describe.each(faults)('when $fault', ({ action, releases }: Fault) => {
  /** Applies the fault to the next request with the script, and makes the call. */
  const during = async <T>({ sha1 }: { sha1: string }, call: () => Promise<T>) => {
    const trap = rig.proxy.onNextRequest(sha1, action)
    const pending = call()
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    const result = await within(4_000, pending)
    trap.release()
    await trap.done
    return result
  }

  test.each(Object.entries({ acquire, beginJob, finishJob, release }))(
    'at the script %s, the job runs once, and its result is stored once',
    async (_, script) => {
      const [mine, theirs] = [await hasty(), rig.witness()]
      let runs = 0
      const outcome = await during(script, () => jobOf(mine).run(() => ++runs))
      expect(outcome).toMatchObject({ ran: true, result: 1 })
      // A copy of a request that comes now changes nothing.
      expect(await jobOf(theirs).run(() => ++runs)).toMatchObject({
        why: 'served',
        run: { state: 'done', result: 1 },
      })
      const { ended } = await jobOf(theirs).inspect()
      expect(ended).toMatchObject([{ state: 'done', result: 1 }])
      expect(await theirs.getLock(`job:${name}`).isLocked()).toBe(false)
    },
  )

  test('a call that repeats a run which crashed reports the crash once', async () => {
    const options = { atLeastMs: LONG_MS, ifCrashed: 'repeat' } as const
    await crash(options)
    const mine = await hasty()
    const events = crashesOf(mine)
    const outcome = await during(beginJob, () =>
      jobOf(mine, options).run(({ crashed }) => crashed?.state),
    )
    expect(outcome).toMatchObject({ ran: true, result: 'crashed' })
    expect(events).toMatchObject([{ name, isRepeated: true, run: { state: 'crashed' } }])
  })

  test('a call that is served reports the crash once', async () => {
    await crash({ atLeastMs: LONG_MS })
    const mine = await hasty()
    const events = crashesOf(mine)
    const outcome = await during(beginJob, () => jobOf(mine).run(() => {}))
    expect(outcome).toMatchObject({ why: 'served', run: { state: 'crashed' } })
    expect(events).toMatchObject([{ name, isRepeated: false }])
  })

  test('an error of the function reaches the caller and the record', async () => {
    const mine = await hasty()
    const failing = () => jobOf(mine).run(() => Promise.reject(new Error('no rows')))
    await expect(during(finishJob, failing)).rejects.toThrow('no rows')
    const { last, ended } = await jobOf(rig.witness()).inspect()
    expect(last).toMatchObject({ state: 'failed', error: 'Error: no rows' })
    expect(ended).toHaveLength(1)
  })

  test('runOnce() runs again after an error, and then not', async () => {
    const [mine, theirs] = [await hasty(), rig.witness()]
    const once = (client: Holdfast, fn: () => unknown) =>
      client.runOnce(name, 'a', fn, { keepMs: LONG_MS })
    const failing = () => once(mine, () => Promise.reject(new Error('no')))
    await expect(during(finishJob, failing)).rejects.toThrow('no')
    expect(await once(theirs, () => 1)).toMatchObject({ ran: true, result: 1 })
    expect(await once(mine, () => 2)).toMatchObject({ why: 'served', run: { result: 1 } })
  })
})

test('a request to begin that comes late, between the end and the release, begins nothing', async () => {
  const [mine, theirs] = [await hasty(), rig.witness()]
  const options = { atLeastMs: 1 }
  const trap = rig.proxy.onNextRequest(release.sha1, 'hold')
  const running = jobOf(mine, options).run(() => 'done')
  await trap.seen
  const begun = rig.proxy.requests.findLast(({ args }) => args[0] === beginJob.sha1)
  if (begun === undefined) throw new Error('No request to begin')
  expect(await rig.proxy.replay(begun)).toContain('lost')
  expect(await theirs.lastRun(name)).toMatchObject({ state: 'done' })
  trap.release()
  expect(await within(4_000, running)).toMatchObject({ ran: true })
})

test('a call for a new tick runs, although another call checks an older tick at this moment', async () => {
  const [slow, fast] = [rig.client({ commandTimeoutMs: 60_000 }), rig.witness()]
  await jobOf(fast, {}).run(() => 1, { tick: 1 })
  const trap = rig.proxy.onNextRequest(beginJob.sha1, 'hold')
  const checking = jobOf(slow, {}).run(() => 'again', { tick: 1 })
  await trap.seen
  const next = jobOf(fast, {}).run(() => 2, { tick: 2 })
  await eventually(async () => (await fast.getLock(`job:${name}`).inspect()).waiters > 0)
  trap.release()
  expect(await within(4_000, next)).toMatchObject({ ran: true, result: 2 })
  expect(await within(4_000, checking)).toMatchObject({ why: 'served' })
})

test('a call whose lock is held without a run gives up after some looks', async () => {
  const [holder, caller] = [rig.witness(), rig.witness()]
  const lease = await holder.getLock(`job:${name}`).lock()
  expect(
    await within(
      6_000,
      jobOf(caller).run(() => 1),
    ),
  ).toMatchObject({ why: 'running' })
  await lease.release()
  expect(await jobOf(caller).run(() => 1)).toMatchObject({ ran: true })
})

test('a call that loses its lock before the run begins does not run', async () => {
  const mine = rig.client({ commandTimeoutMs: 60_000 })
  const theirs = rig.witness()
  const trap = rig.proxy.onNextRequest(beginJob.sha1, 'hold')
  let runs = 0
  const late = jobOf(mine).run(() => ++runs)
  await trap.seen
  await theirs.getLock(`job:${name}`).forceUnlock()
  expect(await jobOf(theirs).run(() => 'theirs')).toMatchObject({ ran: true })
  trap.release()
  await expect(within(4_000, late)).rejects.toThrow(LeaseLostError)
  expect(runs).toBe(0)
  expect(await theirs.lastRun(name)).toMatchObject({ result: 'theirs' })
})

test('a run whose client is cut off counts as crashed, and is repeated when its lease ends', async () => {
  const options = { atLeastMs: LONG_MS, ifCrashed: 'repeat' } as const
  const mine = rig.client({ leaseMs: 900 })
  const theirs = rig.witness()
  const work = deferred<string>()
  const dead = jobOf(mine, options).run(() => work.promise)
  const ending = dead.catch((error: unknown) => error)
  await eventually(() => isRunning(theirs))
  const silence = rig.proxy.blackHole()
  const outcome = await within(
    5_000,
    jobOf(theirs, options).run(() => 'theirs'),
  )
  expect(outcome).toMatchObject({ ran: true, result: 'theirs' })
  rig.proxy.cut()
  silence.heal()
  work.resolve('mine')
  expect(await within(10_000, ending)).toBeInstanceOf(LeaseLostError)
  const { ended } = await jobOf(theirs).inspect()
  expect(ended.map(({ state }) => state)).toEqual(['done', 'crashed'])
})

test('an aborted or closed call ends its wait for a holder without a run', async () => {
  const lease = await rig.witness().getLock(`job:${name}`).lock()
  const abort = new AbortController()
  const [one, two] = [rig.witness(), rig.witness()]
  const aborted = jobOf(one).run(() => 1, { signal: abort.signal })
  const closed = jobOf(two).run(() => 1)
  closed.catch(() => undefined)
  const lock = rig.witness().getLock(`job:${name}`)
  await eventually(async () => (await lock.inspect()).waiters > 0)
  abort.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  await two.close()
  await expect(closed).rejects.toThrow('closed')
  await lease.release()
})

test('a replica gives no answer to a request to begin or to end', async () => {
  const { admin } = rig.server
  const keys = ['it', 'holdfast_job:{it}', 'holdfast_runs:{it}'] as const
  await admin.hset('it', 'o', 1)
  await admin.replicaof('127.0.0.1', '1')
  try {
    const begin = admin.eval(
      ...([beginJob.source, 3, ...keys, 'o', 1, 'it', 1, 0, '', '', 0, 1_000, 3] as const),
    )
    await expect(begin).rejects.toThrow(/READONLY/)
  } finally {
    await admin.replicaof('NO', 'ONE')
    await admin.del('it')
  }
})
