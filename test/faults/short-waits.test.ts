import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome } from '../support/fault-rig.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { takes } from '../support/takes.ts'

/**
 * A wait shorter than a round trip shows nothing about Redis, and returns null. A wait that ends when an answer is
 * later than usual shows an outage.
 */
const rig = faultRig()
const UNAVAILABLE = { code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' }

describe.each(['getLock', 'getFairLock'] as const)('%s', (kind) => {
  test('a wait shorter than a round trip returns null, and leaves nothing behind', async () => {
    rig.proxy.delay(130)
    const client = rig.client({ commandTimeoutMs: 2_000 })
    await granted(await client[kind]('warm').tryLock()).release()
    for (const waitMs of [1, 10, 30]) {
      expect(await client[kind]('it').tryLock(waitMs)).toBeNull()
    }
    await eventually(async () => !(await rig.exists('it')) && (await rig.queue('it')).length === 0)
    await granted(await client[kind]('it').tryLock(5_000)).release()
  })

  test('a short wait of a new client returns null', async () => {
    rig.proxy.delay(15)
    // A stall of a loaded machine looks like a silent server, so another new client may try again.
    const client = await eventually(async () => {
      const client = rig.client({ commandTimeoutMs: 2_000 })
      return (await client[kind]('it').tryLock(5)) === null && client
    })
    await granted(await client[kind]('it').tryLock(5_000)).release()
  })

  test('a distant server counts as down only when it is silent for longer than usual', async () => {
    const delay = rig.proxy.delay(150)
    const client = rig.client({ commandTimeoutMs: 2_000 })
    await granted(await client[kind]('warm').tryLock()).release()
    expect(await client[kind]('it').tryLock(100)).toBeNull()
    delay.heal()
    const hole = rig.proxy.blackHole()
    const trying = outcome(client[kind]('it').tryLock(1_100))
    expect((await takes({ atMost: 1_900 }, trying)).error).toMatchObject(UNAVAILABLE)
    const waiting = await outcome(client[kind]('it').lock({ waitMs: 1_100 }))
    expect(waiting.error).toMatchObject(UNAVAILABLE)
    hole.heal()
    await eventually(async () => !(await rig.exists('it')))
  })

  test('a short wait rejects with an outage when the connection is down', async () => {
    const client = rig.client()
    await granted(await client[kind]('warm').tryLock()).release()
    rig.proxy.refuse()
    rig.proxy.cut()
    await eventually(async () => {
      const { error } = await outcome(client[kind]('it').tryLock(5))
      return error !== undefined
    })
    const { error } = await outcome(client[kind]('it').tryLock(5))
    expect(error).toMatchObject(UNAVAILABLE)
    await rig.proxy.heal()
  })
})

test('a majority of masters counts as down only when it is silent for longer than usual', async () => {
  const cluster = await Cluster.start(3)
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  const delays = proxies.map((proxy) => proxy.delay(120))
  const urls = proxies.map(({ url }) => url)
  const client = cluster.client({ commandTimeoutMs: 2_000 }, urls)
  await granted(await client.getLock('warm').tryLock()).release()
  expect(await client.getLock('it').tryLock(10)).toBeNull()
  for (const delay of delays) delay.heal()
  const holes = proxies.slice(1).map((proxy) => proxy.blackHole())
  const { error } = await outcome(client.getLock('it').tryLock(1_100))
  expect(error).toMatchObject(UNAVAILABLE)
  for (const hole of holes) hole.heal()
  await cluster.free('it')
})
