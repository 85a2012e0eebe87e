import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'

const program = join(__dirname, '../../dist/esm/tools/cli/main.js')

/** A cluster that serves the slots of its live nodes even if other nodes are down. */
const config = { 'cluster-require-full-coverage': 'no', 'cluster-node-timeout': 1_000 }

interface Setting {
  readonly cluster: RedisCluster
  readonly dead: RedisServer
  readonly alive: readonly RedisServer[]
  /** Names of locks: one at the dead node, and others at the live nodes. */
  readonly lost: string
  readonly kept: readonly string[]
  readonly url: string
}

/** Thirty held locks at three masters, of which the last one is killed. */
async function newSetting(): Promise<Setting> {
  const cluster = await startCluster({ masters: 3, replicas: 0, config })
  const client = new Holdfast({ redis: { cluster: cluster.startNodes } })
  atEnd(() => client.close(), { beforeCheck: true })
  const names = Array.from({ length: 30 }, (_, i) => `job:${i}`)
  for (const name of names) await client.getLock(name).lock()
  const dead = cluster.masters[2] as RedisServer
  const at = await Promise.all(names.map((name) => cluster.masterOf(name)))
  const lost = names.filter((_, i) => at[i] === dead)
  await dead.kill()
  return {
    cluster,
    dead,
    alive: cluster.masters.slice(0, 2),
    lost: lost[0] as string,
    kept: names.filter((name) => !lost.includes(name)),
    url: `127.0.0.1:${cluster.masters[0]?.port}`,
  }
}

/** Runs the program as a separate process, which must end by itself. */
function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 20_000 }
    const child = execFile(process.execPath, [program, ...args], options, (_, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err })
    })
  })
}

async function connectionsOf(servers: readonly RedisServer[]): Promise<number> {
  const lists = await Promise.all(servers.map(({ admin }) => admin.client('LIST')))
  return lists.reduce<number>((sum, list) => sum + String(list).trim().split('\n').length, 0)
}

test('with a dead node, the program uses the other nodes, names the dead node, and ends', async () => {
  const { dead, lost, kept, url } = await newSetting()
  const node = `127\\.0\\.0\\.1:${dead.port} cannot be asked: .*ECONNREFUSED`
  const list = await run('list', '--json', '--cluster', `--url=${url}`)
  const names = list.out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).name]))
  expect({ code: list.code, names: names.sort() }).toEqual({ code: 3, names: [...kept].sort() })
  expect(list.err).toMatch(new RegExp(node))
  const leaks = await run('leaks', '--cluster', '--lease-ms=30', `--url=${url}`)
  expect(leaks).toMatchObject({ code: 3, err: expect.stringMatching(node) })
  const [name] = kept as [string]
  const inspect = await run('inspect', '--cluster', '--look-ms=0', `--url=${url}`, '--', name)
  expect(inspect).toMatchObject({ code: 0, out: expect.stringContaining('state       held') })
  const missing = await run('inspect', '--cluster', `--url=${url}`, '--', lost)
  expect(missing).toMatchObject({ code: 3, out: '', err: expect.stringMatching(node) })
  const release = ['release', '--force', '--yes', '--cluster', `--url=${url}`, '--']
  expect(await run(...release, name)).toMatchObject({ code: 0 })
  expect(await run(...release, lost)).toMatchObject({ code: 3, err: expect.stringMatching(node) })
})

test('with a dead node, the dashboard shows the other nodes, reports the dead node, and opens no further connections', async () => {
  const { alive, kept, dead, url } = await newSetting()
  const before = await connectionsOf(alive)
  const dashboard = newDashboard({ redis: { cluster: [url] }, authorize: () => 'read' })
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const ask = async (path: string) =>
    (await dashboard.fetch(new Request(`http://localhost/${path}`))).json()
  const first = (await ask('api/rows')) as {
    rows: { key: string }[]
    status: { state: string; missing: string[] }
  }
  expect(first.rows.map(({ key }) => key).sort()).toEqual([...kept].sort())
  expect(first.status).toMatchObject({
    state: 'live',
    missing: [expect.stringMatching(new RegExp(`127.0.0.1:${dead.port} cannot be asked`))],
  })
  const opened = await connectionsOf(alive)
  for (let i = 0; i < 30; i++) {
    await ask('api/rows')
    await ask(`api/lock?key=${kept[i % kept.length]}`)
  }
  expect(await connectionsOf(alive)).toBe(opened)
  await dashboard.close()
  await eventually(async () => (await connectionsOf(alive)) === before)
})

test('no connection remains if no node of a cluster answers for its slots', async () => {
  const { cluster, alive, url } = await newSetting()
  const before = await connectionsOf(alive)
  // Without the right to read the slots, the first answer is an error.
  for (const node of alive)
    await node.admin.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '+ping')
  const failing = await run('list', '--cluster', '--user=blind', '--pass=secret', `--url=${url}`)
  expect(failing).toMatchObject({ code: 3, err: expect.stringContaining('NOPERM') })
  await eventually(async () => (await connectionsOf(alive)) === before)
  expect(cluster.masters).toHaveLength(3)
})
