import type { LockServer } from '../../src/servers/lock-server.ts'
import { quorumOf } from '../../src/servers/quorum/new-quorum.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { verbsOf } from '../support/verbs.ts'

const keys = lockKeys('it')

/** The time limit of one request to a master, in milliseconds. */
const CALL_MS = 2_000

/** Returns a quorum of the masters, without a client. */
function quorumOver({ masters }: Cluster): LockServer {
  const nodes = masters.map(
    ({ url }) => new RedisServer(url, CALL_MS, () => {}, { counterMs: 60_000 }),
  )
  const settings = { callMs: CALL_MS, counterMs: 60_000, restMs: 1_000, newDeployment: false }
  const quorum = quorumOf(nodes, settings)
  const close = () => {
    quorum.disconnect()
    for (const node of nodes) node.disconnect()
  }
  atEnd(close, { beforeCheck: true })
  return quorum
}

const lockOf = (cluster: Cluster) => verbsOf(quorumOver(cluster).lock('it'))

/** Returns the number of clients that listen for releases, for each master. */
async function listeners(cluster: Cluster): Promise<number[]> {
  const counts = cluster.masters.map(({ admin }) => admin.pubsub('NUMSUB', keys.channel))
  return (await Promise.all(counts)).map((reply) => Number(reply[1]))
}

async function listensAt(cluster: Cluster, some: number[]): Promise<void> {
  for (const i of some) {
    const listener = cluster.masters[i]?.admin.duplicate()
    atEnd(() => listener?.disconnect(), { beforeCheck: true })
    await listener?.subscribe(keys.channel)
  }
}

/** Acquires the lock at all masters. Returns a hand-over to another owner, which may yield to other clients. */
async function holdToPass(cluster: Cluster, lock: ReturnType<typeof lockOf>) {
  const owner = 'me:1'
  const grant = await lock.acquire({ owner, leaseMs: 10_000, reserve: 0, callMs: CALL_MS })
  if (grant.kind !== 'granted') throw new Error(grant.kind)
  await cluster.heldEverywhere('it', owner)
  return {
    from: { owner, token: grant.token },
    to: { owner: 'me:2', leaseMs: 10_000 },
    mayFree: 'forOthers',
    listens: false,
    reserve: 0,
    callMs: CALL_MS,
  } as const
}

describe('a hand-over that may yield', () => {
  test('a hand-over yields if clients listen at a majority, and reports their number', async () => {
    const cluster = await Cluster.start(5)
    const lock = lockOf(cluster)
    await listensAt(cluster, [0, 1, 2, 3, 4])
    const passing = await holdToPass(cluster, lock)
    const answer = await lock.handOver(passing)
    expect(answer).toMatchObject({ kind: 'yielded', others: 1 })
    await cluster.free('it')
  })

  test('a split hand-over leaves no lock at masters without listeners', async () => {
    const cluster = await Cluster.start(5)
    const lock = lockOf(cluster)
    await listensAt(cluster, [0, 2, 4])
    const passing = await holdToPass(cluster, lock)
    const answer = await lock.handOver(passing)
    expect(answer).toMatchObject({ kind: 'yielded', split: expect.anything() })
    await cluster.free('it')
  })
})

test('a hand-over without the answers of a majority is reported as unknown', async () => {
  const cluster = await Cluster.start(3)
  const lock = lockOf(cluster)
  await listensAt(cluster, [0])
  const passing = await holdToPass(cluster, lock)
  for (const master of cluster.masters.slice(1)) master.pause()
  await expect(lock.handOver(passing)).rejects.toMatchObject({ kind: 'unknown' })
  for (const master of cluster.masters.slice(1)) master.resume()
  await cluster.free('it')
})

test('a split hand-over does not wait for masters that are down', async () => {
  const cluster = await Cluster.start(5)
  const lock = lockOf(cluster)
  await listensAt(cluster, [0, 1])
  await Promise.all(cluster.masters.slice(3).map((master) => master.kill()))
  const grant = await lock.acquire({ owner: 'me:0', leaseMs: 10_000, reserve: 0, callMs: CALL_MS })
  if (grant.kind !== 'granted') throw new Error(grant.kind)
  let { token } = grant
  for (let i = 0; i < 8; i += 1) {
    const next = { owner: `me:${i + 1}`, leaseMs: 10_000 }
    const answer = await lock.handOver({
      from: { owner: `me:${i}`, token },
      to: next,
      mayFree: 'never',
      listens: false,
      reserve: 0,
      callMs: CALL_MS,
    })
    if (answer.kind !== 'granted') throw new Error(answer.kind)
    token = answer.token
  }
  const from = { owner: 'me:8', token }
  // No call waits for the answers of masters that are down, not even one after the other.
  const handingOver = lock.handOver({
    from,
    to: { owner: 'me:9', leaseMs: 10_000 },
    mayFree: 'forOthers',
    listens: false,
    reserve: 0,
    callMs: CALL_MS,
  })
  const answer = await within(1_500, handingOver)
  expect(answer).toMatchObject({ kind: 'yielded', split: expect.anything() })
  await Promise.all(cluster.masters.slice(3).map((master) => master.revive()))
  await cluster.free('it')
})

test('a waiter listens at all masters, even where it got a vote', async () => {
  const cluster = await Cluster.start(5)
  for (const { admin } of cluster.masters.slice(0, 3)) {
    await admin.hset('it', 'somebody:else', 1)
    await admin.pexpire('it', 30_000)
  }
  const client = cluster.client()
  const waiting = client.getLock('it').lock()
  await eventually(async () => (await listeners(cluster)).every((count) => count === 1))
  for (const { admin } of cluster.masters.slice(0, 3)) {
    await admin.del('it')
    await admin.publish(keys.channel, '0')
  }
  await (await within(3_000, waiting)).release()
  await client.close()
  await cluster.free('it')
  leaves({ keys: true, why: 'a vote that came late may be on its way back' })
})

test('the rest of a lease is the time that a majority has for sure', async () => {
  const cluster = await Cluster.start(3)
  const quorum = quorumOver(cluster)
  const ttls = [20_000, 20_000, 60_000]
  for (const [i, { admin }] of cluster.masters.entries()) {
    await admin.hset('it', 'me:1', 1)
    await admin.pexpire('it', ttls[i] as number)
  }
  for (let times = 0; times < 10; times++) {
    const [left] = await quorum.renew([{ rawName: 'it', ownerId: 'me:1' }], 0, CALL_MS)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(20_000)
  }
  leaves({ keys: true, why: 'they were put there by hand' })
})
