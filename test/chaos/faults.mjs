// What is done to clients, ways and servers while locks are in use. Each fault ends by itself, and
// tells in words what it was.
import { setTimeout as pause } from 'node:timers/promises'
import { pick, pickWeighted } from './random.mjs'

/** On one client's way to one server, or to all. */
const NETWORK = {
  cut: async (ways) => {
    for (const way of ways) way.cut()
  },
  refuse: (ways, ms) => during(ways, ms, (way) => way.refuse()),
  'black hole, late': (ways, ms) => during(ways, ms, (way) => way.block('toServer', 'toClient')),
  'black hole, lost': (ways, ms) =>
    during(ways, ms, (way) => way.block('toServer', 'toClient'), false),
  'requests late': (ways, ms) => during(ways, ms, (way) => way.block('toServer')),
  'replies late': (ways, ms) => during(ways, ms, (way) => way.block('toClient')),
  'replies lost': (ways, ms) => during(ways, ms, (way) => way.block('toClient'), false),
  slow: (ways, ms, random) => {
    const delayMs = 1 + random() * 60
    return during(ways, ms, (way) => way.delay(delayMs))
  },
}

async function during(ways, ms, hurt, deliver = true) {
  for (const way of ways) hurt(way)
  await pause(ms)
  for (const way of ways) way.heal(deliver)
}

/** On one server: nothing is forgotten. */
const SERVER = {
  'connections killed': async (server) => {
    await server.admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await server.admin.client('KILL', 'TYPE', 'pubsub')
  },
  'scripts flushed': (server) => server.admin.script('FLUSH'),
  stopped: async (server, ms) => {
    server.signal('SIGSTOP')
    await pause(ms)
    server.signal('SIGCONT')
  },
  asleep: (server, ms) => server.admin.call('DEBUG', 'SLEEP', (ms / 1_000).toFixed(3)),
  'out of memory': async (server, ms) => {
    await server.admin.config('SET', 'maxmemory', '1')
    await pause(ms)
    await server.admin.config('SET', 'maxmemory', '0')
  },
  'read only': async (server, ms) => {
    await server.admin.call('REPLICAOF', '127.0.0.1', '1')
    await pause(ms)
    await server.admin.call('REPLICAOF', 'NO', 'ONE')
  },
  'too many clients': async (server, ms) => {
    await server.admin.config('SET', 'maxclients', '2')
    await server.admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await pause(ms)
    await server.admin.config('SET', 'maxclients', '10000')
  },
  busy: async (server, ms) => {
    await server.admin.config('SET', 'busy-reply-threshold', '10')
    const loop =
      "local t = redis.call('TIME') local e = t[1] * 1000 + t[2] / 1000 + ARGV[1] repeat t = redis.call('TIME') until t[1] * 1000 + t[2] / 1000 > e"
    await server.admin.eval(loop, 0, Math.round(ms)).catch(() => {})
  },
}

/** Servers that forget. On one server a lock may then have two holders for a moment: that is told. */
const AMNESIA = {
  emptied: async (server) => server.admin.flushall(),
  'restarted empty': async (server, ms) => {
    await server.kill()
    await pause(ms)
    await server.restart()
  },
  'key deleted': async (server, _ms, random, names) => server.admin.del(pick(random, names)),
}

/** Where Sentinels watch: what was told by the old master just before may be forgotten. */
const FAILOVER = {
  'planned failover': (watched) => watched.planned(),
  'master killed': (watched, ms) =>
    watched.failover(async (master) => {
      await master.kill()
      void pause(ms + 2_000).then(() => master.restart())
    }),
  'master stopped': (watched, ms) =>
    watched.failover((master) => {
      master.signal('SIGSTOP')
      void pause(ms + 3_000).then(() => master.signal('SIGCONT'))
    }),
}

/**
 * One fault at a time, with pauses, until it is enough.
 *
 * @param stage the clients with their ways, the servers, and what the world allows
 */
export async function storm(stage, random, isOver, log) {
  const { clients, servers, isQuorum, persistent, names } = stage
  const spare = servers.length - Math.floor(servers.length / 2) - 1
  while (!isOver()) {
    await pause(random() * 150)
    const ms = pickWeighted(random, [
      [5, 5 + random() * 100],
      [3, 100 + random() * 900],
      [1, 1_000 + random() * 2_500],
    ])
    const what = pickWeighted(random, [
      [clients[0].ways.length > 0 ? 8 : 0, 'network'],
      [3, 'process'],
      [servers.length > 0 ? 5 : 0, 'server'],
      [stage.withAmnesia ? 1.5 : 0, 'amnesia'],
    ])
    if (what === 'server' && stage.watched !== undefined) {
      const name = pick(random, Object.keys(FAILOVER))
      const work = async () => {
        const over = stage.forgets()
        await FAILOVER[name](stage.watched, ms)
        // Until all have been told of the new master; a failover needs replicas that are up to date.
        await pause(1_000)
        over()
        await pause(5_000)
      }
      await log(name, ms, work())
    } else if (what === 'network') {
      const hurt = pick(random, clients)
      const name = pick(random, Object.keys(NETWORK))
      const ways = random() < 0.5 ? hurt.ways : [pick(random, hurt.ways)]
      await log(
        `${name} for ${hurt.label} (${ways.length} ways)`,
        ms,
        NETWORK[name](ways, ms, random),
      )
    } else if (what === 'process') {
      const hurt = pick(random, clients)
      const name = pick(random, ['paused', 'stalled', 'killed'])
      await log(`${hurt.label} ${name}`, ms, hurt[name](ms))
    } else if (what === 'server') {
      // More than a minority at once is an outage, not a violation: now and then all of them.
      const count = isQuorum && random() < 0.8 ? 1 + Math.floor(random() * spare) : servers.length
      const some = sample(random, servers, isQuorum ? count : 1)
      const name = pick(random, [...Object.keys(SERVER), ...(persistent ? ['restarted'] : [])])
      const one = (server) =>
        name === 'restarted'
          ? AMNESIA['restarted empty'](server, ms) // With its data.
          : SERVER[name](server, ms)
      await log(`${name}: ${some.length} of ${servers.length}`, ms, Promise.all(some.map(one)))
    } else {
      const name = pick(random, Object.keys(AMNESIA))
      const server = pick(random, servers)
      const work = async () => {
        const over = stage.forgets()
        await AMNESIA[name](server, ms, random, names)
        over()
        // A quorum forgives one of them at a time.
        if (isQuorum) await pause(stage.longestLeaseMs + 500)
      }
      await log(`${name}: one of ${servers.length}`, ms, work())
    }
  }
}

function sample(random, all, count) {
  const rest = [...all]
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0])
}
