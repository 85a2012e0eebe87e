import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from '@swc/core'
import * as ioredis from 'ioredis'
import type { Holdfast } from '../../src/index.ts'
import * as holdfast from '../../src/index.ts'
import { type Page, readPage, root } from '../repo/docs/pages.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { makeCertificates } from '../support/places/certificates.ts'
import { freePort } from '../support/ports.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startWatched } from '../support/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { newServerFolder, type ServerConfig } from '../support/server-process.ts'

const FOLDER = 'docs/how-to/deploy'
const pageOf = (name: string): Page => readPage(`${FOLDER}/${name}.md`)

/** Settings that the tests choose: ports and files of the servers, and logins of the administrator. */
const OURS = new Set([
  'port',
  'cluster-config-file',
  'cluster-node-timeout',
  // The tests administer the servers as `default` without a password, from the same machine.
  'requirepass',
  'masterauth',
])

/** Returns the settings for redis.conf from the page. Files of /etc/redis are in `folder`. */
function configOf(page: Page, folder = ''): ServerConfig {
  const block = page.blocks.find(({ body }) => body.startsWith('# redis.conf\n'))
  const lines = block?.body.split('\n').slice(1) ?? []
  const settings = lines.map((line): [string, string] => {
    const [name = '', ...words] = line.split(' ')
    return [name, words.join(' ').replace('""', '').replace('/etc/redis', folder)]
  })
  return Object.fromEntries(settings.filter(([name]) => !OURS.has(name)))
}

/** Returns the commands of the page that set rights, with their port if they name a port. */
function rightsOf(page: Page): { port: string | undefined; words: string[] }[] {
  const text = page.blocks
    .map(({ body }) => body)
    .join('\n')
    .replaceAll('\\\n', ' ')
  return [...text.matchAll(/redis-cli (?:-p (\d+) )?ACL SETUSER (.*)/g)].map(([, port, words]) => ({
    port,
    words: (words ?? '').replaceAll("'", '').trim().split(/\s+/),
  }))
}

async function giveRights(
  page: Page,
  servers: readonly RedisServer[],
  port?: string,
): Promise<void> {
  for (const { words } of rightsOf(page).filter((rights) => rights.port === port)) {
    await Promise.all(servers.map(({ admin }) => admin.call('ACL', 'SETUSER', ...words)))
  }
}

interface Address {
  readonly host: string
  readonly port: number
}

/** Makes the first client of the page, with test servers instead of 10.0.0.1, 10.0.0.2, … */
function clientOf(page: Page, servers: readonly Address[], folder = ''): Holdfast {
  const block = page.blocks.find(({ language }) => language === 'ts')
  const ours = (block?.body ?? '')
    .replace(/host: '10\.0\.0\.(\d)',\s*port: \d+/g, (_, n) => {
      const { host, port } = servers[Number(n) - 1] as Address
      return `host: '${host}', port: ${port}`
    })
    .replaceAll('/etc/redis', folder)
    .replace("name: 'main'", "name: 'watched'")
  expect(ours).not.toContain('10.0.0.')
  const { code } = transformSync(`${ours}\nexport { holdfast }`, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  })
  const made: { holdfast?: Holdfast } = {}
  const modules: Record<string, unknown> = { holdfast, ioredis, 'node:fs': require('node:fs') }
  new Function('require', 'exports', code)((name: string) => modules[name], made)
  const client = made.holdfast as Holdfast
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Two clients compete for locks in many slots, and use all functions of locks. */
async function useLocks([one, two]: [Holdfast, Holdfast], kinds: ('getLock' | 'getFairLock')[]) {
  const errors: Error[] = []
  for (const client of [one, two]) client.on('error', (error) => errors.push(error))
  for (const kind of kinds) {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const [mine, theirs] = [one[kind](name), two[kind](name)]
      const held = await mine.lock()
      const waiting = [theirs.lock(), mine.lock()]
      await eventually(async () => (await mine.inspect()).waiters > 0)
      await held.extend(60_000)
      await held.release()
      await Promise.all(waiting.map(async (each) => (await each).release()))
      await theirs.lock()
      expect(await mine.forceUnlock()).toBe(true)
    }
  }
  expect(errors).toEqual([])
}

async function refusedOn(servers: readonly RedisServer[]): Promise<unknown[]> {
  const logs = await Promise.all(servers.map(({ admin }) => admin.call('ACL', 'LOG')))
  return logs.flat()
}

/** Returns all commands that ran on these servers, even inside scripts. */
async function commandsOn(servers: readonly RedisServer[]): Promise<string[]> {
  const infos = await Promise.all(servers.map(({ admin }) => admin.info('commandstats')))
  const found = infos.join('\n').matchAll(/cmdstat_(\S+?):calls=[1-9]/g)
  return [...new Set([...found].map(([, name]) => name ?? ''))]
}

const ALWAYS = 'evalsha eval time publish subscribe unsubscribe pubsub|numsub info'.split(' ')
const BOTH: ('getLock' | 'getFairLock')[] = ['getLock', 'getFairLock']

const pages = readdirSync(join(root, FOLDER)).map((file) => file.replace('.md', ''))

test.each(pages)('%s: the page has a configuration, rights, and the cost of a failover', (name) => {
  const headings = pageOf(name).headings.map(({ text }) => text)
  for (const text of ['Configuration', 'Rights', 'Cost of a failover']) {
    expect(headings).toContain(text)
  }
})

test.each(['single', 'valkey'])(
  '%s: the configuration and the rights of the page are enough',
  async (name) => {
    const page = pageOf(name)
    const server = await startRedis({ config: configOf(page) })
    await giveRights(pageOf('single'), [server])
    await useLocks([clientOf(page, [server]), clientOf(page, [server])], BOTH)
    expect(await refusedOn([server])).toEqual([])
    const sent = await commandsOn([server])
    expect(ALWAYS.filter((command) => !sent.includes(command))).toEqual([])
  },
)

test('replicas: the configuration and the rights are enough, and a master without replicas refuses', async () => {
  const page = pageOf('replicas')
  const [master, replica] = (await Promise.all(
    [1, 2].map(() => startRedis({ config: configOf(page) })),
  )) as [RedisServer, RedisServer]
  await giveRights(page, [master, replica])
  const refused = clientOf(page, [master]).getLock('a').tryLock()
  await expect(refused).rejects.toThrow('NOREPLICAS')
  await replica.admin.replicaof(master.host, master.port)
  await eventually(async () => /state=online/.test(await master.admin.info('replication')))
  await useLocks([clientOf(page, [master]), clientOf(page, [master])], BOTH)
  expect(await refusedOn([master, replica])).toEqual([])
})

test('sentinel: the configuration and all three logins are enough, even after a failover', async () => {
  leaves({ keys: true, why: 'a server that was demoted has what it granted meanwhile' })
  const page = pageOf('sentinel')
  const [atSentinels, ofSentinels] = rightsOf(page)
    .slice(-2)
    .map(({ words }) => words) as [string[], string[]]
  const watched = await startWatched({
    config: {
      ...configOf(page),
      // The Sentinels have their login from the start.
      user: ofSentinels,
    },
    lines: [
      `user ${atSentinels.join(' ')}`,
      'sentinel auth-user watched sentinel',
      'sentinel auth-pass watched secret',
    ],
  })
  await giveRights(page, watched.servers)
  await Promise.all(watched.servers.map(({ admin }) => admin.call('ACL', 'LOG', 'RESET')))
  const clients = [1, 2].map(() => clientOf(page, watched.sentinels)) as [Holdfast, Holdfast]
  await useLocks(clients, BOTH)
  const before = await watched.master()
  await watched.replicated()
  expect(await watched.failover()).not.toBe(before)
  await eventually(async () => {
    await clients[0].getLock('after').using(() => undefined)
    return (await (await watched.master()).admin.exists('redisson_lock_token:{app:after}')) === 1
  })
  expect(await refusedOn([...watched.servers, ...watched.sentinels])).toEqual([])
})

test('cluster: the configuration and the rights are enough', async () => {
  const page = pageOf('cluster')
  const cluster = await startCluster({ masters: 3, replicas: 1, config: configOf(page) })
  await giveRights(page, cluster.nodes)
  const clients = [1, 2].map(() => clientOf(page, cluster.masters)) as [Holdfast, Holdfast]
  await useLocks(clients, BOTH)
  expect(await refusedOn(cluster.nodes)).toEqual([])
  const ofShards = 'cluster|slots cluster|info spublish ssubscribe sunsubscribe pubsub|shardnumsub'
  // The order of the requests decides whether a client counts the listeners of an inbox, or unsubscribes.
  const sent = new Set([...(await commandsOn(cluster.nodes)), 'pubsub|numsub', 'unsubscribe'])
  expect([...ALWAYS, ...ofShards.split(' ')].filter((command) => !sent.has(command))).toEqual([])
})

test('cluster: the rights are enough while a slot moves', async () => {
  const page = pageOf('cluster')
  const cluster = await startCluster({ masters: 3, config: configOf(page) })
  await giveRights(page, cluster.nodes)
  const client = clientOf(page, cluster.masters)
  const from = await cluster.masterOf('app:it')
  const to = cluster.masters.find((master) => master !== from) as RedisServer
  const [fromId, toId] = await Promise.all(
    [from, to].map(({ admin }) => admin.call('CLUSTER', 'MYID')),
  )
  const slot = await cluster.slotOf('app:it')
  const lock = client.getLock('it')
  await (await lock.lock()).release()
  await from.flush()
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId))
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId))
  const waiting = lock.lock()
  // The client asked the old master first, and then the new master.
  await eventually(async () => (await commandsOn([to])).includes('asking'))
  for (const { admin } of [to, from]) {
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId))
  }
  const lease = await waiting
  expect(await to.admin.exists('app:it')).toBe(1)
  await lease.release()
  expect(await refusedOn(cluster.nodes)).toEqual([])
})

test('masters: the configuration and the rights are enough', async () => {
  leaves({ keys: true, why: 'a majority has released; the others hear of it a moment later' })
  const page = pageOf('masters')
  const servers = await Promise.all([1, 2, 3].map(() => startRedis({ config: configOf(page) })))
  await giveRights(page, servers)
  const first = new holdfast.Holdfast({
    masters: servers.map(({ url }) => url),
    longestLeaseMs: 60_000,
    newDeployment: true,
  })
  await first.getLock('first').using(() => undefined)
  await first.close()
  await useLocks([clientOf(page, servers), clientOf(page, servers)], ['getLock'])
  expect(await refusedOn(servers)).toEqual([])
})

describe('tls', () => {
  const page = pageOf('tls')
  let server: RedisServer
  let folder: string
  let port: number

  beforeAll(async () => {
    const { ca, server: own, client } = makeCertificates()
    folder = newServerFolder()
    mkdirSync(folder, { recursive: true })
    const files = { ca: ca, server: own.cert, client: client.cert }
    for (const [name, pem] of Object.entries(files)) writeFileSync(join(folder, `${name}.crt`), pem)
    writeFileSync(join(folder, 'server.key'), own.key)
    writeFileSync(join(folder, 'client.key'), client.key)
    port = await freePort()
    server = await startRedis({ config: { ...configOf(page, folder), 'tls-port': port } })
    await giveRights(pageOf('single'), [server])
  })

  test('the configuration of the page is enough for TLS', async () => {
    const make = () => clientOf(page, [{ host: server.host, port }], folder)
    await useLocks([make(), make()], BOTH)
  })

  test.each([
    ['without a certificate', {}, /certificate required|ECONNRESET|closed/i],
    ['that does not know the authority', { ca: undefined }, /self-signed certificate/],
  ])('a client %s cannot connect, and the error says why', async (_, tls, why) => {
    const ca = require('node:fs').readFileSync(join(folder, 'ca.crt'))
    const redis = { host: server.host, port, tls: { ca, ...tls } }
    const client = new holdfast.Holdfast({ redis, outageMs: 500 })
    const told: string[] = []
    client.on('error', ({ message }) => told.push(message))
    try {
      await expect(client.getLock('it').tryLock()).rejects.toMatchObject({
        code: 'HOLDFAST_UNAVAILABLE',
      })
      expect(told.join('\n')).toMatch(why)
    } finally {
      await client.close()
    }
  })
})
