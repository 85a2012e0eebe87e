// Measures the effect of failovers on users of locks. It measures how long no client can acquire a lock. The first
// part of this time ends when a new master accepts writes of a plain client, and a Sentinel names this master. The
// second part ends with the first lock on the new master. The program also counts lost locks, losses that Holdfast
// reported to the holder, and overlaps of two holders.
// Run `npm run build`, then `node bench/probes/failover/failovers.mjs [failovers] [sentinel|cluster|both]`.
// `--planned` or `--killed` selects one kind of failover. `--durable` makes acquisitions wait for all replicas, and
// `--durable=2` for two replicas. `--quick` makes a short run.
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { RedisCluster } from '../../../programs/chaos/servers/cluster.mjs'
import { Watched } from '../../../programs/chaos/servers/sentinels.mjs'
import { aboutTheMachine, now, quantile, table, until } from '../../support/support.mjs'

const words = process.argv.slice(2)
const has = (flag) => words.includes(flag)
const [count = has('--quick') ? 2 : 50] = words.map(Number).filter((n) => n > 0)
const wanted = ['sentinel', 'cluster'].find(has)
const [isDurable, replicas = 'all'] =
  words.find((one) => /^--durable\b/.test(one))?.split('=') ?? []
const CLIENTS = 4
const OPTIONS = {
  leaseMs: 15_000,
  commandTimeoutMs: 1_000,
  outageMs: 60_000,
  ...(isDurable && { durability: { replicas: Number(replicas) || 'all', timeoutMs: 500 } }),
}

/** The current holder of each lock, and the errors. */
class Witness {
  #inside = new Map()
  #tokens = new Map()
  #told = new Set()
  grants = 0
  overlaps = []
  regressions = 0
  toldLost = 0
  untoldLost = 0
  #beside = []

  lost(name, token) {
    this.toldLost += 1
    this.#told.add(`${name} ${token}`)
    const at = now()
    for (const one of this.#beside) {
      if (one.name === name && one.token === token) one.untilMs ??= at
    }
  }

  enter(lease) {
    const { name, token } = lease
    const before = this.#inside.get(name)
    if (before?.valid) {
      // `untilMs` will be the time of the report of the loss, or of the release.
      const overlap = { name, token: before.token, fromMs: now(), untilMs: undefined }
      this.#beside.push(overlap)
      this.overlaps.push(overlap)
    }
    if (token <= (this.#tokens.get(name) ?? 0)) this.regressions += 1
    this.#tokens.set(name, Math.max(token, this.#tokens.get(name) ?? 0))
    this.#inside.set(name, lease)
    this.grants += 1
  }

  /** @param had true if the server still had the lock at its release */
  left(lease, had) {
    const { name, token } = lease
    if (this.#inside.get(name) === lease) this.#inside.delete(name)
    if (!had && !this.#told.has(`${name} ${token}`)) this.untoldLost += 1
    for (const one of this.#beside) {
      if (one.name === name && one.token === token) one.untilMs ??= now()
    }
  }
}

/** The deployments. Each can make a failover, and knows the servers that then have the keys of a name. */
const worlds = {
  async sentinel() {
    const watched = await Watched.start(0)
    const ways = watched.servers.map(({ port }) => ({ port }))
    return {
      newSource: () => ({ redis: watched.optionsBy(ways), end: () => {} }),
      tags: ['it'],
      /** @returns the servers that may become the master, and functions that start a failover */
      async pick() {
        const before = await watched.master()
        const next = watched.servers.filter((one) => one !== before)
        return {
          tag: 'it',
          next,
          // Clients can find the new master only after a Sentinel names it.
          isNamed: async (one) => (await watched.named()).includes(one),
          plan: () => watched.planned(),
          kill: () => watched.masterKilled(500),
        }
      },
      async settled() {
        await until(async () => {
          const named = await watched.named()
          if (named.length !== 1) return false
          return /connected_slaves:2/.test(await named[0].admin.info('replication'))
        }, 'all replicas to be back')
        await pause(1_000)
      },
      stop: async () => {
        await watched.stop()
        await Promise.all(watched.servers.map((one) => one.stop()))
      },
    }
  },
  async cluster() {
    const cluster = await RedisCluster.start()
    const nodes = cluster.servers.map(({ port }) => ({ host: '127.0.0.1', port }))
    // One name for each pair of servers. Its slot stays at this pair.
    const tags = new Map()
    for (let i = 0; tags.size < 3; i += 1) {
      const slot = Number(await cluster.servers[0].admin.cluster('KEYSLOT', `t${i}`))
      const pair = Math.floor((slot * 3) / 16_384)
      if (!tags.has(pair)) tags.set(pair, `t${i}`)
    }
    let turn = 0
    return {
      newSource: () => {
        const redis = new Cluster(nodes, { lazyConnect: true })
        redis.on('error', () => {})
        return { redis, end: () => redis.disconnect() }
      },
      tags: [...tags.values()],
      async pick() {
        turn = (turn + 1) % 3
        const two = [cluster.servers[turn], cluster.servers[turn + 3]]
        const isFirst = (await two[0].role()) === 'master'
        const [master, replica] = isFirst ? two : [two[1], two[0]]
        return {
          tag: tags.get(turn),
          next: [replica],
          isNamed: () => true,
          plan: () => replica.admin.call('CLUSTER', 'FAILOVER'),
          kill: async () => {
            await master.kill()
            await until(async () => (await replica.role()) === 'master', 'a replica to take over')
            await pause(500)
            await master.restart()
          },
        }
      },
      async settled() {
        await until(async () => {
          const masters = await cluster.masters()
          const infos = await Promise.all(masters.map(({ admin }) => admin.info('replication')))
          return infos.length === 3 && infos.every((info) => /state=online/.test(info))
        }, 'all replicas to be back')
        await pause(1_000)
      },
      stop: () => Promise.all(cluster.servers.map((one) => one.stop())),
    }
  },
}

async function measure(where, how) {
  const world = await worlds[where]()
  const witness = new Witness()
  const opened = Array.from({ length: CLIENTS }, () => {
    const source = world.newSource()
    const client = new Holdfast({ redis: source.redis, ...OPTIONS })
    client.on('error', () => {})
    client.on('lost', ({ name, token }) => witness.lost(name, token))
    return { client, source }
  })
  let isOver = false
  const failures = []
  /** Called for each grant, to find the first grant on the new master. */
  let onGrant = () => undefined
  const use = async (client, name, ms) => {
    while (!isOver) {
      try {
        const lease = await client.getLock(name).lock()
        const at = now()
        witness.enter(lease)
        await onGrant(lease, at)
        const end = new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
        await Promise.race([end, pause(ms * (0.5 + Math.random()))])
        const had = await lease.release()
        if (!isOver) witness.left(lease, had)
      } catch (error) {
        if (!isOver) failures.push(error.message)
        await pause(50)
      }
    }
  }
  const working = opened.flatMap(({ client }, i) =>
    world.tags.flatMap((tag) => [
      use(client, `{${tag}}:shared`, 5),
      use(client, `{${tag}}:shared too`, 5),
      use(client, `{${tag}}:own ${i}`, 2_000),
      use(client, `{${tag}}:own, too ${i}`, 8_000),
    ]),
  )
  const [servers, ours] = [[], []]
  for (let i = 0; i < count; i += 1) {
    await world.settled()
    const { tag, next, isNamed, plan, kill } = await world.pick()
    let acceptedAt
    const accepts = next.map(async (one) => {
      while (acceptedAt === undefined) {
        const done = await one.admin.set(`{${tag}}:plain`, '1', 'PX', 1_000).catch(() => undefined)
        if (done === 'OK' && (await isNamed(one))) acceptedAt ??= now()
        else await pause(2)
      }
    })
    let granted
    const first = new Promise((resolve) => {
      granted = resolve
    })
    onGrant = async ({ name, owner }, at) => {
      if (acceptedAt === undefined || !name.startsWith(`{${tag}}`)) return
      const looks = next.map(({ admin }) => admin.hexists(name, owner).catch(() => 0))
      if ((await Promise.all(looks)).includes(1)) granted(at)
    }
    const from = now()
    const done = how === 'planned' ? plan() : kill()
    await Promise.all(accepts)
    const grantedAt = await Promise.race([first, pause(30_000, Infinity, { ref: false })])
    onGrant = () => undefined
    servers.push(acceptedAt - from)
    ours.push(Math.max(0, grantedAt - acceptedAt))
    await done
  }
  await world.settled()
  isOver = true
  await Promise.all(opened.map(({ client, source }) => client.close().finally(() => source.end())))
  await Promise.all(working)
  await world.stop()
  const ms = (values) => `${Math.round(quantile(values, 0.5))} / ${Math.round(quantile(values, 1))}`
  const beside = witness.overlaps.map(({ fromMs, untilMs = Infinity }) => untilMs - fromMs)
  for (const message of new Set(failures)) console.log(`  failed: ${message}`)
  return [
    `${where}, ${how}`,
    count,
    ms(servers.map((server, i) => server + ours[i])),
    ms(servers),
    ms(ours),
    witness.grants,
    witness.toldLost,
    witness.untoldLost,
    witness.overlaps.length,
    beside.length === 0 ? '' : Math.round(Math.max(...beside)),
    witness.regressions,
  ]
}

console.log(aboutTheMachine())
const rows = []
for (const where of wanted ? [wanted] : ['sentinel', 'cluster']) {
  for (const how of ['planned', 'killed']) {
    if ((has('--planned') && how === 'killed') || (has('--killed') && how === 'planned')) continue
    rows.push(await measure(where, how))
  }
}
console.log('Times in milliseconds, p50 / max.')
table(
  [
    'failovers',
    'number',
    'without locks',
    'part of the servers',
    'part of Holdfast',
    'grants',
    'lost and reported',
    'lost, not reported',
    'overlaps',
    'longest overlap ms',
    'token regressions',
  ],
  rows,
)
/** A server may lose locks if the holders receive a report. Unreported losses and token regressions are errors. */
const isWrong = rows.some((row) => row[7] > 0 || row[10] > 0 || (isDurable && row[8] > 0))
process.exit(isWrong ? 1 : 0)
