import { ClosedError } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type Fault, faults } from '../support/request-faults.ts'
import { acquireRate, giveBackRate, inspectRate } from '../support/scripts.ts'

const rig = faultRig()

/** With this limit, the client soon gives up a request that the proxy holds back. */
const HASTY = { commandTimeoutMs: scaledMs(100) }

/** No permit becomes free within this time, in milliseconds. */
const LONG_MS = 600_000

let name = 'it'
let names = 0

beforeEach(async () => {
  name = `rate-${++names}`
  for (const { source } of [acquireRate, giveBackRate, inspectRate]) {
    await rig.server.admin.script('LOAD', source)
  }
  const keys = [name, `holdfast_rate:{${name}}`]
  atEnd(() => rig.server.admin.del(...keys), { beforeCheck: true })
})

async function pair(permits: number) {
  const limit = { permits, perMs: LONG_MS }
  const mine = rig.client(HASTY).getRateLimiter(name, limit)
  await mine.inspect()
  return { mine, theirs: rig.witness().getRateLimiter(name, limit) }
}

describe.each(faults)('when $fault', ({ action, releases }: Fault) => {
  test('a call uses its permits once', async () => {
    const { mine, theirs } = await pair(3)
    const trap = rig.proxy.onNextRequest(acquireRate.sha1, action)
    const outcome = mine.tryAcquire()
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    expect(await within(4_000, outcome)).toEqual({ granted: true, retryAfterMs: 0 })
    trap.release()
    await trap.done
    // A copy that the server has received twice on one connection counts again. Otherwise no copy does.
    const most = action === 'duplicate' ? 2 : 1
    await never(async () => (await theirs.inspect()).used > most, 150)
    expect((await theirs.inspect()).used).toBeGreaterThanOrEqual(1)
  })

  test('a waiting call has one place', async () => {
    const { mine, theirs } = await pair(2)
    await theirs.acquire({ cost: 2 })
    const trap = rig.proxy.onNextRequest(acquireRate.sha1, action)
    const controller = new AbortController()
    const waiting = mine.acquire({ cost: 2, signal: controller.signal })
    const failure = waiting.catch((error: unknown) => error)
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    await eventually(async () => (await theirs.inspect()).waiting >= 1)
    trap.release()
    await trap.done
    const most = action === 'duplicate' ? 2 : 1
    await never(async () => (await theirs.inspect()).waiting > most, 150)
    controller.abort(new Error('enough'))
    expect(await within(4_000, failure)).toMatchObject({ message: 'enough' })
    await eventually(async () => (await theirs.inspect()).waiting === most - 1)
  })

  test('an aborted call gives its permits back once', async () => {
    const { mine, theirs } = await pair(1)
    await theirs.acquire()
    const controller = new AbortController()
    const failure = mine.acquire({ signal: controller.signal }).catch((error: unknown) => error)
    await eventually(async () => (await theirs.inspect()).waiting === 1)
    const trap = rig.proxy.onNextRequest(giveBackRate.sha1, action)
    controller.abort(new Error('enough'))
    expect(await within(4_000, failure)).toMatchObject({ message: 'enough' })
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    await eventually(async () => (await theirs.inspect()).waiting === 0)
    trap.release()
    await trap.done
    expect(await theirs.inspect()).toMatchObject({ used: 1, waiting: 0 })
  })
})

test('close() waits until a call whose answer is late has given its permits back', async () => {
  const limit = { permits: 1, perMs: LONG_MS }
  const client = rig.client({ commandTimeoutMs: 60_000, outageMs: 120_000 })
  const [mine, theirs] = [client, rig.witness()].map((one) => one.getRateLimiter(name, limit))
  await theirs?.acquire()
  await mine?.inspect()
  const trap = rig.proxy.onNextRequest(acquireRate.sha1, 'holdReply')
  const failure = mine?.acquire().catch((error: unknown) => error)
  await trap.seen
  const closed = client.close()
  trap.release()
  await closed
  expect(await failure).toBeInstanceOf(ClosedError)
  expect(await theirs?.inspect()).toMatchObject({ used: 1, waiting: 0 })
})

test('a call that is aborted after its request was lost uses no permits later', async () => {
  const { mine, theirs } = await pair(3)
  const trap = rig.proxy.onNextRequest(acquireRate.sha1, 'cutBefore')
  const abort = new AbortController()
  const failure = mine.acquire({ signal: abort.signal }).catch((error: unknown) => error)
  await trap.seen
  abort.abort(new Error('enough'))
  expect(await failure).toMatchObject({ message: 'enough' })
  await trap.done
  // The client repeats the request, which only looks for a grant.
  await eventually(async () => (await mine.inspect()).used === 0)
  await never(async () => (await theirs.inspect()).used > 0, 300)
})
