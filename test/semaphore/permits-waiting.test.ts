import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Permit } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { acquirePermits } from '../support/scripts.ts'
import { takes } from '../support/takes.ts'
import { allAreBack, listening, of, taken, waiting, withPermits } from './permits.ts'

const rig = faultRig()
const { server } = rig

/** Shorter than the second after which a waiter checks again without a message. */
const AT_ONCE_MS = 900

async function calls(): Promise<number> {
  const stats = String(await server.admin.info('commandstats'))
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

describe('the waiter that came first', () => {
  test('waiters are served in the order in which they came, with several waiters in each client', async () => {
    const clients = [rig.client(), rig.client(), rig.client()]
    const semaphore = await withPermits(rig.witness(), 1)
    const permit = await semaphore.acquire()
    const order: number[] = []
    // An order in which no client has only consecutive turns.
    const whose = [0, 1, 1, 2, 0, 0, 2, 1, 2, 0, 1, 2]
    const all: Promise<void>[] = []
    for (const [i, at] of whose.entries()) {
      const serve = async () => {
        const mine = await of(clients[at] as Holdfast).acquire()
        order.push(i)
        await mine.release()
      }
      all.push(serve())
      // This call returns after the server has run the request, so the next call begins later.
      await of(clients[at] as Holdfast).availablePermits()
      // The server computes the start of a wait from the arrival of the request. A delay on the network must not change
      // the order.
      await pause(scaledMs(100))
    }
    await permit.release()
    await within(5_000, Promise.all(all))
    expect(order).toEqual(whose.map((_, i) => i))
    await allAreBack(server, 1)
  })

  test('a waiter for many permits is not overtaken by a stream of smaller requests', async () => {
    const [client, other] = [rig.client(), rig.client()]
    const semaphore = await withPermits(client, 3)
    let isOver = false
    const busy = [other, other, other].map(async (one) => {
      while (!isOver) {
        const permit = await of(one).acquire()
        await pause(10)
        await permit.release()
      }
    })
    await eventually(async () => (await semaphore.availablePermits()) === 0)
    for (let i = 0; i < 3; i++) {
      await (await within(2_000, semaphore.acquire({ permits: 3 }))).release()
    }
    isOver = true
    await Promise.all(busy)
    await allAreBack(server, 3)
  })

  test('a waiter is not overtaken by a caller that does not wait', async () => {
    const [client, other] = [rig.client(), rig.client()]
    const semaphore = await withPermits(client, 2)
    const permit = await semaphore.acquire()
    const both = semaphore.acquire({ permits: 2 })
    await listening(server, 1)
    expect(await of(other).tryAcquire()).toBeNull()
    expect(await semaphore.tryAcquire()).toBeNull()
    await permit.release()
    await (await within(AT_ONCE_MS, both)).release()
    await allAreBack(server, 2)
  })

  test('the next waiter is served at once when the first waiter gives up', async () => {
    const [client, other] = [rig.client(), rig.client()]
    const semaphore = await withPermits(client, 2)
    const permit = await semaphore.acquire()
    const abort = new AbortController()
    const head = semaphore.acquire({ permits: 2, signal: abort.signal })
    await listening(server, 1)
    const next = of(other).acquire()
    await waiting(server, 2)
    await listening(server, 2)
    await pause(25)
    abort.abort('enough')
    await expect(head).rejects.toBe('enough')
    await (await within(AT_ONCE_MS, next)).release()
    await permit.release()
    await allAreBack(server, 2)
  })

  test('a waiter that gives up before its first request leaves no place behind', async () => {
    const [client, other] = [rig.client(), rig.client()]
    const semaphore = await withPermits(client, 3)
    const permit = await semaphore.acquire({ permits: 3 })
    const abort = new AbortController()
    const first = semaphore.acquire({ permits: 2 })
    await listening(server, 1)
    // This call waits in its client behind the first call, and would send a request when the first call is served.
    const second = semaphore.acquire({ signal: abort.signal }).catch((reason) => reason)
    client.on('acquired', () => abort.abort('enough'))
    const third = of(other).acquire()
    await waiting(server, 2)
    await listening(server, 2)
    await permit.release()
    const served = await within(AT_ONCE_MS, first)
    expect(await second).toBe('enough')
    await (await within(AT_ONCE_MS, third)).release()
    await served.release()
    await allAreBack(server, 3)
  })

  test('a first waiter that dies delays others for about three seconds', async () => {
    const [dead, client] = [rig.client(), rig.witness()]
    const semaphore = await withPermits(client, 1)
    const permit = await semaphore.acquire()
    void of(dead)
      .acquire()
      .catch(() => undefined)
    await listening(server, 1)
    const next = semaphore.acquire()
    await waiting(server, 2)
    rig.proxy.blackHole()
    await permit.release()
    const served = await takes({ atLeast: 1_000, atMost: 5_000 }, next)
    await served.release()
    await server.admin.del('it')
    // The client closes through the proxy, and then sends no further requests.
    await rig.proxy.heal()
    await dead.close()
    await server.admin.flushall()
  })
})

test('a waiter acquires the permits of a dead holder when their lease ends, not at its next check', async () => {
  const dead = rig.client({ leaseMs: 700 })
  const semaphore = await withPermits(rig.witness(), 3)
  taken(await of(dead).tryAcquire({ permits: 2 }))
  rig.proxy.blackHole()
  let leftMs = Infinity
  await eventually(async () => {
    leftMs = (await semaphore.inspect()).acquired[0]?.ttlMs ?? 0
    return leftMs < 250
  })
  const permit = await takes({ atMost: leftMs + 600 }, semaphore.acquire({ permits: 3 }))
  await permit.release()
  await rig.proxy.heal()
  await dead.close()
  await allAreBack(server, 3)
})

test('a waiter notices within 2.5 seconds that a message is lost', async () => {
  const client = rig.client()
  const theirs = await withPermits(rig.witness(), 1)
  const permit = await theirs.acquire()
  const acquiring = of(client).acquire()
  await listening(server, 1)
  await eventually(() => rig.proxy.count(acquirePermits.sha1) >= 2)
  rig.proxy.blackHole({ only: 'subscriber', direction: 'toClient' })
  await permit.release()
  const mine = await within(2_500, acquiring)
  await mine.release()
  await rig.proxy.heal()
  await allAreBack(server, 1)
})

test.each([
  { clients: 4, waiters: 10, most: 4 },
  { clients: 20, waiters: 2, most: 4 },
])(
  'a grant costs at most four scripts with 40 waiters, $waiters in each of $clients clients',
  async (each) => {
    const clients = Array.from({ length: each.clients }, () => rig.witness())
    const semaphore = await withPermits(clients[0] as Holdfast, 1)
    const permit = await semaphore.acquire()
    let served = 0
    const all = clients.flatMap((client) =>
      Array.from({ length: each.waiters }, async () => {
        const mine = await of(client).acquire()
        served += 1
        await mine.release()
      }),
    )
    await waiting(server, each.clients)
    await listening(server, each.clients)
    const [before, from] = [await calls(), performance.now()]
    await permit.release()
    await within(10_000, Promise.all(all))
    const askedAgain = (each.clients * (performance.now() - from)) / 1_000
    const perGrant = ((await calls()) - before - askedAgain) / served
    expect(perGrant).toBeLessThanOrEqual(each.most)
    await allAreBack(server, 1)
  },
)

test('an abort at the moment of the grant leaves no permit taken', async () => {
  const client = rig.client()
  const semaphore = await withPermits(client, 2)
  for (let i = 0; i < 20; i++) {
    const abort = new AbortController()
    const asked = rig.proxy.onNextRequest(acquirePermits.sha1, 'pass')
    const acquiring = semaphore.acquire({ permits: 2, signal: abort.signal })
    await asked.seen
    setImmediate(() => abort.abort('enough'))
    const got: Permit | string = await acquiring.catch((reason) => reason)
    if (typeof got !== 'string') await got.release()
  }
  const abort = new AbortController()
  const onAcquired = () => abort.abort('enough')
  client.once('acquired', onAcquired)
  const permit = await semaphore.acquire({ signal: abort.signal })
  expect(permit.valid).toBe(true)
  await permit.release()
  await never(async () => (await semaphore.inspect()).taken > 0, 50)
  await allAreBack(server, 2)
})
