import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster()
})

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis, commandTimeoutMs: 2_000, outageMs: 20_000, ...options })
  atEnd(() => client.close().finally(() => redis.disconnect()), { beforeCheck: true })
  return client
}

const idOf = async ({ admin }: RedisServer) => String(await admin.call('CLUSTER', 'MYID'))

/** True if a line of `CLUSTER NODES` says that this node has the slot. */
function hasSlot(line: string, slot: number): boolean {
  const ranges = line.split(' ').slice(8)
  return ranges.some((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return slot >= Number(first) && slot <= Number(last)
  })
}

/** Moves one slot from one node to another, key by key. */
class Move {
  readonly slot: number
  readonly from: RedisServer
  readonly to: RedisServer
  hasEnded = false

  constructor(slot: number, from: RedisServer, to: RedisServer) {
    this.slot = slot
    this.from = from
    this.to = to
  }

  async begin(): Promise<void> {
    // A late message of an earlier move would end this move.
    const owner = await idOf(this.from)
    for (const { admin } of cluster.masters) {
      await eventually(async () => {
        const lines = String(await admin.call('CLUSTER', 'NODES')).split('\n')
        return lines.find((line) => hasSlot(line, this.slot))?.startsWith(owner)
      })
    }
    await this.to.admin.call('CLUSTER', 'SETSLOT', this.slot, 'IMPORTING', await idOf(this.from))
    await this.from.admin.call('CLUSTER', 'SETSLOT', this.slot, 'MIGRATING', await idOf(this.to))
  }

  keys(): Promise<string[]> {
    return this.from.admin.call('CLUSTER', 'GETKEYSINSLOT', this.slot, 1_000) as Promise<string[]>
  }

  async moveKey(key: string): Promise<void> {
    const { host, port } = this.to
    await this.from.admin.call('MIGRATE', host, port, key, 0, 5_000)
  }

  async moveAll(): Promise<void> {
    for (let keys = await this.keys(); keys.length > 0; keys = await this.keys()) {
      for (const key of keys) await this.moveKey(key)
    }
  }

  /** Ends the move. The slot stays at its node. */
  async stop(): Promise<void> {
    for (const { admin } of [this.from, this.to]) {
      await admin.call('CLUSTER', 'SETSLOT', this.slot, 'STABLE')
    }
  }

  async end(): Promise<void> {
    this.hasEnded = true
    const id = await idOf(this.to)
    for (const { admin } of [this.to, this.from, ...cluster.masters]) {
      await admin.call('CLUSTER', 'SETSLOT', this.slot, 'NODE', id)
    }
  }
}

/** Moves the slot of this name to another node. At the end of the test, the slot moves back. */
async function moveOf(name: string): Promise<Move> {
  const slot = Number(await cluster.masters[0]?.admin.cluster('KEYSLOT', name))
  const from = await cluster.masterOf(name)
  const to = cluster.masters.find((one) => one !== from) as RedisServer
  const move = new Move(slot, from, to)
  atEnd(async () => {
    if ((await to.admin.dbsize()) > 0) await to.flush()
    if (!move.hasEnded) return move.stop()
    const back = new Move(slot, to, from)
    // An import raises the epoch. Otherwise a late message of the other node could move the slot again.
    await back.begin()
    await back.end()
  })
  return move
}

describe.each([{ shardedPubSub: true }, { shardedPubSub: false }])('%p', (options) => {
  test('a lock stays held while its slot moves, and a waiter is woken at the other node', async () => {
    const [holder, other] = [newClient({ ...options, leaseMs: 3_000 }), newClient(options)]
    const diary = new Diary(holder)
    const held = await holder.getLock('it').lock()
    const waits = new Promise((resolve) => other.once('wait', resolve))
    const waiting = other.getLock('it').tryLock(60_000)
    await waits
    const move = await moveOf('it')
    await move.begin()
    for (const key of await move.keys()) await move.moveKey(key)
    const before = diary.renewed
    await eventually(() => diary.renewed > before + 1)
    await move.end()
    const after = diary.renewed
    await eventually(() => diary.renewed > after + 1)
    expect(diary.lost).toEqual([])
    expect(await held.release()).toBe(true)
    const lease = granted(await within(20_000, waiting))
    expect(lease.token).toBeGreaterThan(held.token)
    expect(await move.to.admin.exists('it')).toBe(1)
    await lease.release()
  })

  test('locks exclude each other while their slot moves', async () => {
    const clients = [
      newClient(options),
      newClient(options),
      newClient({ ...options, leaseMs: 3_000 }),
    ]
    const kept = await (clients[2] as Holdfast).getLock('{it}:kept').lock()
    const inside = new Map<string, number>()
    const tokens = new Map<string, number>()
    const overlaps: string[] = []
    let [rounds, isOver] = [0, false]
    const work = async (client: Holdfast, name: string) => {
      while (!isOver) {
        const lease = await client.getLock(name).lock()
        if (inside.has(name)) overlaps.push(`${name}: ${inside.get(name)} and ${lease.token}`)
        if (lease.token <= (tokens.get(name) ?? 0)) overlaps.push(`${name}: ${lease.token} again`)
        inside.set(name, lease.token)
        tokens.set(name, lease.token)
        await new Promise((resolve) => setTimeout(resolve, 5))
        inside.delete(name)
        await lease.release()
        rounds += 1
      }
    }
    const names = ['it', '{it}:1', '{it}:2', '{it}:3']
    const working = clients.flatMap((client) => names.map((name) => outcome(work(client, name))))
    const atLeast = async (more: number) => {
      const before = rounds
      await eventually(() => rounds >= before + more, { timeoutMs: 20_000 })
    }
    await atLeast(20)
    const move = await moveOf('it')
    await move.begin()
    await move.moveAll()
    await move.end()
    await atLeast(20)
    isOver = true
    for (const { error } of await Promise.all(working)) expect(error).toBeUndefined()
    expect(overlaps).toEqual([])
    expect(kept.valid).toBe(true)
    expect(await kept.release()).toBe(true)
    const left = (await lastingKeys(move.to.admin)).filter(
      (key) => !key.startsWith('redisson_lock_token'),
    )
    expect(left).toEqual([])
  })
})

test('a lock whose keys are at two nodes is waited for, and is never reported as contention', async () => {
  // If earlier answers were slow, `tryLock()` reports a short silence as null. A silence of 500 ms counts as an outage
  // here.
  const client = newClient({ commandTimeoutMs: 1_000, outageMs: 1_200 })
  await client.getLock('it').using(() => undefined)
  const move = await moveOf('it')
  await move.begin()
  expect(await outcome(client.getLock('it').tryLock(1_000))).toMatchObject({
    // After TRYAGAIN, ioredis 5 sends the command to any node, which may answer MOVED.
    error: { lockName: 'it', message: expect.stringMatching(/TRYAGAIN|ASK|MOVED|no answer/) },
  })
  const asking = newClient().getLock('it').lock()
  await move.moveAll()
  await move.end()
  await granted(await within(20_000, asking)).release()
})

test('a user without the right to ASKING waits until the slot has moved, and the process continues', async () => {
  const [username, password] = ['unasked', 'secret']
  const rules = ['on', `>${password}`, '~*', '&*', '+@all', '-asking']
  for (const { admin } of cluster.masters) await admin.call('ACL', 'SETUSER', username, ...rules)
  const move = await moveOf('it')
  await move.begin()
  const denied = async () => String(await move.to.admin.call('ACL', 'LOG')).includes('asking')
  const told = { nodes: cluster.startNodes, username, password }
  const child = startChild('test/servers/fixtures/asking.mjs', { args: [JSON.stringify(told)] })
  await child.next()
  await eventually(denied)
  await move.end()
  expect(await child.next(undefined, { timeoutMs: 20_000 })).toEqual({ token: expect.any(Number) })
  expect(await child.exited).toEqual({ code: 0, signal: null })
})
