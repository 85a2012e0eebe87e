import type { Holdfast } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'

const rig = faultRig()

/** `close()` has at most this many releases in flight. */
const MOST = 1_000
const ALL = 1_500

/** How many locks exist on the server. */
async function held(): Promise<number> {
  return (await rig.server.admin.keys('many:*')).length
}

async function acquireMany(client: Holdfast, all = ALL): Promise<void> {
  for (let n = 0; n < all; n += 250) {
    const some = Array.from({ length: 250 }, (_, i) => client.getLock(`many:${n + i}`).lock())
    await Promise.all(some)
  }
}

test('close() of a client with many locks waits for answers before it releases all locks', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000, outageMs: 10_000 })
  await acquireMany(client)
  const answers = rig.proxy.blackHole({ direction: 'toClient' })
  const closed = client.close()
  await eventually(async () => (await held()) === ALL - MOST)
  await never(async () => (await held()) < ALL - MOST, 300, { everyMs: 50 })
  answers.heal()
  expect(await closed).toHaveLength(ALL)
  expect(await held()).toBe(0)
})

test('close() of a client far from its server waits for as long as releases are confirmed', async () => {
  // The releases need six round trips, and the last one begins after more than twice `commandTimeoutMs`.
  const all = 6 * MOST
  const commandTimeoutMs = scaledMs(1_000)
  const client = rig.client({ commandTimeoutMs, outageMs: 100_000, leaseMs: 200_000 })
  await acquireMany(client, all)
  rig.proxy.delay(0.45 * commandTimeoutMs, { direction: 'toClient' })
  expect(await client.close()).toHaveLength(all)
  expect(await held()).toBe(0)
})

test('close() sends all releases if no release is answered', async () => {
  // A server that does not answer must not end the leases one after the other.
  const client = rig.client({
    commandTimeoutMs: scaledMs(1_000),
    outageMs: 100_000,
    leaseMs: 200_000,
  })
  await acquireMany(client)
  const answers = rig.proxy.blackHole({ direction: 'toClient' })
  const closed = client.close()
  await eventually(async () => (await held()) === 0, { timeoutMs: 60_000, followsLoad: false })
  answers.heal()
  expect(await closed).toHaveLength(ALL)
})
