import { setTimeout as pause } from 'node:timers/promises'
import type { Lease, Lock } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { randomOf } from '../support/random.ts'
import { Recorder, wrongSteps } from './recorder.ts'

const rig = faultRig()
let told: Recorder

beforeEach(() => {
  told = new Recorder()
})
afterEach(() => told.stop())

test('a grant whose reply is lost is one acquisition, and is reported when it is settled', async () => {
  const client = rig.client({ outageMs: 1_500 })
  await client.getLock('warm').using(() => {})
  rig.proxy.onNextRequest(SHA.acquire, 'cutAfter')
  const dropping = rig.proxy.dropReplies({ only: 'commands' })
  const { result, facts } = told.as(() => client.getLock('it').lock())
  await expect(result).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  expect(facts[0]).toMatchObject({ outcome: 'outage', error: expect.any(Error) })
  dropping.heal()
  await eventually(() => told.settled.length > 0)
  expect(told.settled).toMatchObject([{ client: client.id, key: 'it' }])
  expect(await rig.exists('it')).toBe(false)
})

test('a grant after its caller gave up is no hold, and is released', async () => {
  const client = rig.client({ commandTimeoutMs: 2_000 })
  await client.getLock('warm').using(() => {})
  const abort = new AbortController()
  const trap = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
  const { result, facts } = told.as(() => client.getLock('it').lock({ signal: abort.signal }))
  await eventually(() => rig.exists('it'))
  abort.abort()
  await expect(result).rejects.toBe(abort.signal.reason)
  trap.release()
  await eventually(async () => !(await rig.exists('it')))
  expect(facts[0]?.outcome).toBe('aborted')
  expect(told.of('hold').filter(({ name }) => name === 'it')).toEqual([])
  // The server deletes the key before the reply arrives.
  await eventually(() => wrongSteps(told).length === 0)
})

test('a release whose reply is lost emits one fact, when it is confirmed', async () => {
  const lease = await rig.client().getLock('it').lock()
  rig.proxy.onNextRequest(SHA.release, 'cutAfter')
  expect(await lease.release()).toBe(true)
  expect(told.of('release')).toMatchObject([{ outcome: 'freed', token: lease.token }])
  expect(told.of('hold')).toMatchObject([{ outcome: 'released' }])
  expect(wrongSteps(told)).toEqual([])
})

test('each fact has one end, and each grant has one hold unless it re-enters, while connections are cut', async () => {
  const random = randomOf(17)
  const options = {
    leaseMs: atLoad(1_000),
    commandTimeoutMs: atLoad(200),
    outageMs: atLoad(600),
  }
  const clients = [rig.client(options), rig.client(options), rig.witness(options)]
  let [tries, reentered] = [0, 0]
  const reenter = async (lock: Lock) => {
    tries += 1
    const { result, facts } = told.as(() => lock.tryLock())
    const again = await result.catch(() => null)
    if (again === null || facts[0]?.path !== 'reentered') return
    reentered += 1
    expect(told.of('hold').filter(({ acquire }) => acquire === facts[0])).toEqual([])
    await again.release().catch(() => {})
  }
  const calls = Array.from({ length: 90 }, async (_, n) => {
    await pause(n * 12)
    if (random.below(12) === 0) rig.proxy.cut()
    const client = random.of(clients)
    const owner = client.owner()
    const name = random.of(['a', 'b'])
    const form = random.of(['getLock', 'getFairLock', 'getReadWriteLock'] as const)
    const lock =
      form === 'getReadWriteLock'
        ? client
            .getReadWriteLock(`rw:${name}`, { owner })
            [random.of(['readLock', 'writeLock'] as const)]()
        : client[form](name, { owner })
    const abort = new AbortController()
    if (random.below(5) === 0) setTimeout(() => abort.abort(), random.below(60))
    const waitMs = atLoad(random.of([1, 30, 400]))
    const { result, facts } = told.as(() => lock.tryLock({ waitMs, signal: abort.signal }))
    const got = await result.then(
      (lease) => lease,
      (error: unknown) => ({ error }),
    )
    const [fact] = facts
    const holds = told.of('hold').filter(({ acquire }) => acquire === fact)
    if (got === null) expect(fact?.outcome).toBe('timeout')
    else if ('error' in got) expect(fact?.error).toBe(got.error)
    else {
      expect(fact).toMatchObject({ outcome: 'granted', owner: got.owner, token: got.token })
      expect(holds).toHaveLength(1)
      if (n % 3 === 0) await reenter(lock)
      await pause(random.below(20))
      await (got as Lease).release().catch(() => {})
      return
    }
    expect(holds).toEqual([])
  })
  await Promise.all(calls)
  await rig.proxy.heal()
  await Promise.all(clients.map((client) => client.close()))
  await eventually(() => wrongSteps(told).length === 0 && told.open.length === 0)
  expect(told.of('acquire')).toHaveLength(90 + tries)
  expect(reentered).toBeGreaterThan(0)
})

test('with independent masters, each acquisition, hold and release is one fact, and renewals emit facts', async () => {
  const masters = await Cluster.start(3)
  const client = masters.client({ leaseMs: 4_500 })
  const lease = await client.getLock('it').lock()
  await eventually(() => told.of('renew').some(({ renewed }) => renewed === 1))
  await lease.release()
  expect(told.of('acquire')).toMatchObject([{ outcome: 'granted', token: lease.token }])
  expect(told.of('hold')).toMatchObject([{ outcome: 'released' }])
  expect(told.of('release')).toMatchObject([{ outcome: 'freed' }])
  await client.close()
  expect(wrongSteps(told)).toEqual([])
})
