import { type Holdfast, InvalidArgumentError } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'
import * as scripts from '../support/scripts.ts'
import { takes } from '../support/takes.ts'

const LATEST_LOOK_MS = 6_000
/** With these times, no request is repeated because an answer is late. */
const PATIENT = { commandTimeoutMs: 20_000, outageMs: 20_000 }
const rig = faultRig()

describe('virtual time in memory', () => {
  test('`whenFree()` resolves at the end of the lease of a holder that never releases, and not before', async () => {
    const server = createMemoryServer({ virtualTime: true })
    await using client = server.newClient()
    await using other = server.newClient()
    await client.getLock('it').lock(2_000)
    let isFree: boolean | undefined
    void other
      .getLock('it')
      .whenFree()
      .then((free) => {
        isFree = free
      })
    await server.advance(1_990)
    expect(isFree).toBeUndefined()
    await server.advance(20)
    expect(isFree).toBe(true)
  })

  test('`waitMs` ends `whenFree()` by virtual time', async () => {
    const server = createMemoryServer({ virtualTime: true })
    await using client = server.newClient()
    await client.getLock('it').lock()
    const wait = client.getLock('it').whenFree({ waitMs: 60_000 })
    await server.advance(60_000)
    expect(await wait).toBe(false)
  })

  test('`onFree()` reports the end of a lease, even of a hold that began after the call', async () => {
    const server = createMemoryServer({ virtualTime: true })
    await using client = server.newClient()
    await using other = server.newClient()
    let calls = 0
    const stop = other.getFairLock('it').onFree(() => {
      calls += 1
    })
    await server.advance(100)
    await client.getFairLock('it').lock(20_000)
    await server.advance(20_100)
    expect(calls).toBe(1)
    stop()
    await client.getFairLock('it').lock(1_000)
    await server.advance(10_000)
    expect(calls).toBe(1)
  })

  test('`whenFree()` does not resolve while a fair lock is handed off to its next waiter', async () => {
    const server = createMemoryServer({ virtualTime: true })
    await using client = server.newClient()
    await using other = server.newClient()
    await using observer = server.newClient()
    const first = await client.getFairLock('it').lock()
    const next = other.getFairLock('it').lock()
    await server.advance(10)
    let isFree = false
    void observer
      .getFairLock('it')
      .whenFree()
      .then((free) => {
        isFree = free
      })
    await first.release()
    const lease = await next
    await server.advance(10_000)
    expect(isFree).toBe(false)
    await lease.release()
    await server.advance(0)
    expect(isFree).toBe(true)
  })

  test('a listener of `onFree()` runs in no frame', async () => {
    const server = createMemoryServer()
    await using client = server.newClient()
    const lease = await client.getLock('it').lock()
    const isHeld: Promise<boolean>[] = []
    await client.run(async () => {
      const mine = await client.getLock('mine').lock()
      client.getLock('it').onFree(() => isHeld.push(client.getLock('mine').isHeld()))
      expect(await client.getLock('mine').isHeld()).toBe(true)
      await lease.release()
      await eventually(() => isHeld.length === 1)
      expect(await isHeld[0]).toBe(false)
      await mine.release()
    })
  })
})

test('invalid options of `whenFree()` and `onFree()` are refused, and no request is sent', async () => {
  const client = rig.client(PATIENT)
  const lock = client.getLock('it')
  for (const options of [{ waitMs: 0 }, { waitMs: -1 }, { waitMS: 5 }, { signal: {} }, 1_000]) {
    await expect(lock.whenFree(options as never)).rejects.toBeInstanceOf(InvalidArgumentError)
  }
  await expect(lock.whenFree({ waitMs: 0 })).rejects.toThrow(/isLocked\(\)/)
  expect(() => lock.onFree('no function' as never)).toThrow(InvalidArgumentError)
  expect(() => lock.onFree('no function' as never)).toThrow(/^The listener of onFree\(\) must be/)
  expect(await lock.whenFree({ waitMs: Infinity })).toBe(true)
  expect(rig.proxy.count(scripts.peek.sha1)).toBe(1)
})

test('all calls in one turn of the event loop share their checks and one subscription', async () => {
  const client = rig.client(PATIENT)
  await client.getLock('other').isLocked()
  const peeks = () => rig.proxy.count(scripts.peek.sha1)
  // On a busy machine, one round may have more checks. If the calls did not share checks, every round would have more.
  await eventually(async () => {
    const [before, subscriptions] = [peeks(), rig.proxy.count('SUBSCRIBE')]
    const lease = await rig.witness().getLock('it').lock()
    const waits = Array.from({ length: 20 }, () => client.getLock('it').whenFree())
    await rig.listening('it')
    // One check before the subscription, and one check after its confirmation.
    await eventually(() => peeks() >= before + 2)
    const whileHeld = peeks() - before
    await lease.release()
    expect(await Promise.all(waits)).toEqual(Array(20).fill(true))
    await rig.listening('it', 0)
    expect([whileHeld, peeks() - before]).toEqual([2, 3])
    expect(rig.proxy.count('SUBSCRIBE') - subscriptions).toBe(1)
    return true
  })
})

test('a client with many callers of one lock does not release the lock for its own listener', async () => {
  const client = rig.client(PATIENT)
  const lock = client.getLock('it')
  const stop = lock.onFree(() => {})
  await rig.listening('it')
  const work = () => Promise.all(Array.from({ length: 400 }, () => lock.using(() => {})))
  await work()
  const before = rig.proxy.count(SHA.acquire)
  const start = performance.now()
  await work()
  // The client requests the lock once in each turn, and a turn ends after a second. If the client counted its own
  // listener as a waiter, it would end its turns earlier.
  const turns = Math.floor((performance.now() - start) / 1_000)
  expect(rig.proxy.count(SHA.acquire) - before).toBeLessThan(3 + turns)
  stop()
})

test('checks become rare when a lock is released and acquired all the time', async () => {
  const client = rig.client()
  const [one, two] = [rig.witness(), rig.witness()]
  const stop = client.getLock('it').onFree(() => {})
  await rig.listening('it')
  const before = rig.proxy.count(scripts.peek.sha1)
  let releases = 0
  const startedAt = performance.now()
  const work = async (other: Holdfast) => {
    for (; releases < 300; releases++) await (await other.getLock('it').lock()).release()
  }
  await Promise.all([work(one), work(two)])
  const looks = rig.proxy.count(scripts.peek.sha1) - before
  // After the first checks, there is one check in 64 ms.
  expect(looks).toBeLessThan(20 + (performance.now() - startedAt) / 40)
  stop()
})

test('a release whose message is lost is seen within 6 s', async () => {
  const client = rig.client({ commandTimeoutMs: 20_000, leaseMs: 60_000 })
  const lease = await rig.witness({ leaseMs: 60_000 }).getLock('it').lock()
  const wait = client.getLock('it').whenFree()
  await rig.listening('it')
  const hole = rig.proxy.blackHole({ direction: 'toClient', only: 'subscriber', onHeal: 'drop' })
  await lease.release()
  expect(await takes({ atMost: LATEST_LOOK_MS + 1_500 }, wait)).toBe(true)
  hole.heal()
})

test('a release while the subscriber is cut off is seen', async () => {
  const client = rig.client()
  const lease = await rig.witness().getLock('it').lock()
  const wait = client.getLock('it').whenFree()
  await rig.listening('it')
  rig.proxy.cut('subscriber')
  await lease.release()
  expect(await wait).toBe(true)
})

test.each(['cutBefore', 'cutAfter', 'mute', 'duplicate'] as const)(
  'a check with the fault "%s" still returns an answer',
  async (action) => {
    const client = rig.client()
    await client.getLock('it').isLocked()
    const trap = rig.proxy.onNextRequest(scripts.peek.sha1, action)
    expect(await client.getLock('it').whenFree()).toBe(true)
    await trap.seen
  },
)

describe('an outage', () => {
  test('`whenFree()` rejects after `outageMs`, and at the end of `waitMs` because the state is unknown', async () => {
    const client = rig.client({ outageMs: 600, commandTimeoutMs: 150 })
    client.on('error', () => {})
    const lease = await rig.witness().getLock('it').lock()
    const waits = [
      client.getLock('it').whenFree(),
      client.getLock('it').whenFree({ waitMs: 1_000 }),
    ].map((wait) => wait.catch((error) => error))
    await rig.listening('it')
    rig.proxy.blackHole({ onHeal: 'drop' })
    // If the call checked the lock only at the end of the lease, it would reject too late.
    const third = client.getLock('it').whenFree({ waitMs: 400 })
    for (const error of [await third.catch((error) => error), ...(await Promise.all(waits))]) {
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
    }
    await rig.proxy.heal()
    await lease.release()
  })

  test('`onFree()` reports the failure once, and continues after the outage', async () => {
    const client = rig.client({ outageMs: 1_000, commandTimeoutMs: 300 })
    const errors: (Error & { code?: string; lockName?: string })[] = []
    client.on('error', (error) => errors.push(error))
    const lease = await rig.witness({ leaseMs: 60_000 }).getLock('it').lock()
    let calls = 0
    const stop = client.getLock('it').onFree(() => {
      calls += 1
    })
    await rig.listening('it')
    const hole = rig.proxy.blackHole({ onHeal: 'drop' })
    const told = () =>
      errors.filter((error) => error.lockName === 'it' && error.code === 'HOLDFAST_UNAVAILABLE')
        .length
    const wait = client
      .getLock('it')
      .whenFree()
      .catch(() => {})
    await eventually(() => told() === 1)
    await never(() => told() > 1, 1_500)
    await wait
    hole.heal()
    await eventually(async () => !(await client.getLock('other').isLocked()))
    await lease.release()
    await eventually(() => calls === 1)
    stop()
  })
})

test('a name of another type is refused, and a listener reports it once and checks rarely', async () => {
  const client = rig.client(PATIENT)
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  await rig.server.admin.set('it', 'a text')
  const refused = { code: 'HOLDFAST_REFUSED', lockName: 'it' }
  await expect(client.getLock('it').whenFree()).rejects.toMatchObject(refused)
  const before = rig.proxy.count(scripts.peek.sha1)
  const stop = client.getLock('it').onFree(() => {})
  await eventually(() => errors.length > 0)
  await never(() => rig.proxy.count(scripts.peek.sha1) > before + 1, 800)
  expect(errors).toMatchObject([refused])
  stop()
  await rig.server.admin.del('it')
})
