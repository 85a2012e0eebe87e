import { ClosedError, RedisUnavailableError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { granted, outcome, SHA } from '../support/fault-rig.ts'
import type { Action, ProxyConnection, ProxyRequest } from '../support/proxy.ts'
import { warm } from '../support/warm.ts'
import { isWait, replicatedRig } from './durability-rig.ts'

const rig = replicatedRig()

const isWrite = ({ command, args }: ProxyRequest) =>
  command === 'SET' && String(args[0]).startsWith('holdfast_confirm')
const isLook = ({ command }: ProxyRequest) => command === 'EVAL'

/** Every connection, except the connection that acquires and releases locks. */
function ofReplicas(connection: ProxyConnection): boolean {
  const acquired = rig.proxy.requests.find(({ args }) => args[0] === SHA.acquire)
  return connection.index !== acquired?.connection
}

const free = async (name: string) => Object.keys(await rig.hash(name)).length === 0

describe.each([
  { what: 'the write', match: isWrite },
  { what: 'WAIT', match: isWait },
  { what: 'the look', match: isLook },
])('$what', ({ match }) => {
  test.each(['cutBefore', 'cutAfter', 'mute', 'duplicate'] as Action[])(
    'the fault "%s" costs no lock, and leaves no lock',
    async (action) => {
      const client = rig.client({ replicas: 2, timeoutMs: 1_000 })
      const warm = granted(await eventually(() => client.getLock('warm').tryLock()))
      await warm.release()
      const trap = rig.proxy.onNextRequest(match, action)
      const lease = granted(await client.getLock('it').tryLock())
      await trap.seen
      expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
      for (const replica of rig.replicas) {
        expect(await rig.hash('it', replica)).toEqual({ [lease.owner]: '1' })
      }
      expect(await lease.release()).toBe(true)
      expect(await free('it')).toBe(true)
    },
  )
})

test.each(['tryLock', 'lock'] as const)(
  'if WAIT is never answered, %s rejects as in an outage, and the lock is released',
  async (how) => {
    const client = rig.client({ replicas: 2, timeoutMs: 300 }, { outageMs: 1_500 })
    await granted(await eventually(() => client.getLock('warm').tryLock())).release()
    rig.proxy.blackHole({ only: ofReplicas, onHeal: 'drop' })
    const { error } = await outcome(client.getLock('it')[how]())
    expect(error).toBeInstanceOf(RedisUnavailableError)
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
    await eventually(() => free('it'))
  },
)

test('with "all", an acquisition rejects as in an outage if the master does not report its replicas', async () => {
  const client = rig.client({ replicas: 'all' }, { outageMs: 1_500 })
  rig.proxy.answer(({ args }) => args[0] === 'replication', '+role:master\r\n')
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toBeInstanceOf(RedisUnavailableError)
  expect(String(error)).toContain('does not show how many replicas are connected')
  await eventually(() => free('it'))
})

test('a release whose reply is lost after a shortfall does not end the hold of another client', async () => {
  const [first] = rig.replicas
  const client = rig.client({ replicas: 2, timeoutMs: 200 })
  first.pause()
  const trap = rig.proxy.onNextRequest(SHA.release, 'cutAfter')
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toMatchObject({ code: 'HOLDFAST_NOT_DURABLE' })
  await trap.done
  const lease = granted(await rig.witness().getLock('it').tryLock(5_000))
  await eventually(() => rig.proxy.count(SHA.release) === 2)
  await granted(await rig.witness().getLock('other').tryLock()).release()
  expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
  await lease.release()
})

describe('while WAIT is under way', () => {
  test('an abort during WAIT rejects at once, and the granted lock is released once', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 15_000 }, { commandTimeoutMs: 5_000 })
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const abort = new AbortController()
    const waiting = outcome(client.getLock('it').lock({ signal: abort.signal }))
    await trap.seen
    abort.abort(new Error('enough'))
    expect((await waiting).error).toEqual(new Error('enough'))
    await eventually(() => free('it'), { timeoutMs: 6_000 })
    trap.release()
    await granted(await client.getLock('other').tryLock()).release()
    expect(rig.proxy.count(({ args }) => args[0] === SHA.release && args.includes('it'))).toBe(1)
  })

  test('close() during WAIT rejects the call and releases the granted lock', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 10_000 })
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const waiting = outcome(client.getLock('it').lock())
    await trap.seen
    await client.close()
    expect((await waiting).error).toBeInstanceOf(ClosedError)
    expect(await free('it')).toBe(true)
  })

  test('a call whose time ends during WAIT reports the missing confirmation, and leaves no lock', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 10_000 })
    await warm(client)
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const waiting = outcome(client.getLock('it').tryLock(1_000))
    await trap.seen
    const { error } = await waiting
    expect(error).toBeInstanceOf(RedisUnavailableError)
    expect(String(error)).toContain('not acquired within 1000 ms')
    expect(String(error)).toContain('the replicas had not confirmed it yet')
    await eventually(() => free('it'))
  })

  test('a lease that ends during WAIT does not count, and the client requests the lock again', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 10_000 })
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const waiting = client.getLock('it').tryLock({ leaseMs: 1_500 })
    await trap.seen
    const [first] = Object.keys(await rig.hash('it'))
    const token = Number(await rig.master.admin.get('redisson_lock_token:{it}'))
    await eventually(() => free('it'))
    trap.release()
    const lease = granted(await waiting)
    expect(lease.valid).toBe(true)
    expect(lease.token).toBeGreaterThan(token)
    expect(Object.keys(await rig.hash('it'))).toEqual([lease.owner])
    expect(first).toBeDefined()
    await lease.release()
  })

  test('a lock that another client holds at the end of WAIT is not acquired', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 10_000 })
    const other = rig.witness()
    const trap = rig.proxy.onNextRequest(isWait, 'hold')
    const waiting = client.getLock('it').tryLock()
    await trap.seen
    expect(await other.getLock('it').forceUnlock()).toBe(true)
    const theirs = granted(await other.getLock('it').tryLock())
    trap.release()
    expect(await waiting).toBeNull()
    expect(await rig.hash('it')).toEqual({ [theirs.owner]: '1' })
    expect(await theirs.release()).toBe(true)
  })
})
