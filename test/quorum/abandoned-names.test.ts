import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as scripts from '../support/scripts.ts'

/** The time limit of one request to a master. The client keeps its connections for longer than a test lasts. */
const callMs = 600
const options = {
  leaseMs: callMs * 10,
  longestLeaseMs: 40_000,
  commandTimeoutMs: 8_000,
  outageMs: 20_000,
}

/** For each master, the times at which releases reached the proxy. */
type Times = readonly number[][]

interface Proxied {
  readonly cluster: Cluster
  readonly proxies: readonly FaultProxy[]
  readonly urls: string[]
}

async function proxied(): Promise<Proxied> {
  const cluster = await Cluster.start(3)
  for (const { admin } of cluster.masters) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
  }
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  return { cluster, proxies, urls: proxies.map(({ url }) => url) }
}

/** Records from now on when releases reach each proxy. */
function releasesAt(proxies: readonly FaultProxy[]): Times {
  return proxies.map((proxy) => {
    const times: number[] = []
    const note = ({ args }: { args: readonly string[] }) => {
      if (args.includes(scripts.release.sha1)) times.push(performance.now())
      return false
    }
    proxy.onNextRequest(note, 'pass')
    return times
  })
}

/** Checks that releases to each master are repeated, but only after the time limit of the release before. */
async function areToldOneByOne(times: Times): Promise<void> {
  await eventually(() => times.every((one) => one.length >= 4), {
    message: 'each master to be told again and again',
    timeoutMs: 15_000,
  })
  const gaps = times.map((one) => one.slice(1).map((at, i) => at - (one[i] as number)))
  expect(gaps.flat().filter((ms) => ms < callMs / 3)).toEqual([])
}

describe('masters that run requests and do not answer', () => {
  test('an acquisition that was given up is released at each master by one request at a time', async () => {
    const { cluster, proxies, urls } = await proxied()
    const lock = cluster.client(options, urls).getLock('it')
    await lock.isLocked()
    for (const proxy of proxies) proxy.dropReplies({ only: 'commands' })
    const times = releasesAt(proxies)
    const gone = new AbortController()
    const waiting = lock
      .lock({ leaseMs: 30_000, signal: gone.signal })
      .catch((error: Error) => error)
    await eventually(async () => (await cluster.holders('it')).every(Boolean))
    gone.abort(new Error('no more'))
    expect(await waiting).toMatchObject({ message: 'no more' })
    await areToldOneByOne(times)
    for (const proxy of proxies) await proxy.heal()
    await cluster.free('it')
  })

  test('a release that was given up is repeated at each master by one request at a time', async () => {
    const { cluster, proxies, urls } = await proxied()
    const lock = cluster.client({ ...options, outageMs: 3_000 }, urls).getLock('it')
    const lease = await lock.lock(30_000)
    await cluster.heldEverywhere('it', lease.owner)
    for (const proxy of proxies) proxy.blackHole({ only: 'commands', onHeal: 'drop' })
    const foreground = releasesAt(proxies)
    await expect(lease.release()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    // Only the release itself sent requests so far, and no background task.
    for (const one of foreground) expect(one.length).toBeLessThanOrEqual(6)
    await areToldOneByOne(releasesAt(proxies))
    expect((await cluster.holders('it')).every((owner) => owner === lease.owner)).toBe(true)
    for (const proxy of proxies) await proxy.heal()
    await cluster.free('it')
  })
})

describe('`close()` while releases are pending', () => {
  test.each([
    ['all masters are', 3],
    ['one master is', 1],
  ])('`close()` ends in bounded time while %s silent', async (_, some) => {
    const { cluster, proxies, urls } = await proxied()
    const quick = { ...options, commandTimeoutMs: 1_000, outageMs: 4_000 }
    const client = cluster.client(quick, urls)
    const lease = await client.getLock('it').lock(8_000)
    await cluster.heldEverywhere('it', lease.owner)
    for (const proxy of proxies.slice(0, some)) {
      proxy.blackHole({ only: 'commands', onHeal: 'drop' })
    }
    await lease.release().catch(() => {})
    // Twice the longest call, and some extra time.
    await within(5_000, client.close())
    for (const proxy of proxies) await proxy.heal()
    await cluster.free('it')
  })

  test('`close()` releases the locks if the masters are back within the time of a call', async () => {
    const { cluster, proxies, urls } = await proxied()
    const quick = { ...options, leaseMs: 30_000, outageMs: 4_000 }
    const client = cluster.client(quick, urls)
    const lease = await client.getLock('it').lock()
    await cluster.heldEverywhere('it', lease.owner)
    for (const proxy of proxies) {
      proxy.refuse()
      proxy.cut()
    }
    await expect(lease.release()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    const closing = client.close()
    await pause(300)
    for (const proxy of proxies) await proxy.heal()
    await closing
    expect((await cluster.holders('it')).filter(Boolean).length).toBeLessThanOrEqual(1)
    leaves({ keys: true, why: 'a minority that is back later is not waited for' })
  })
})
