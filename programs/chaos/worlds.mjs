// The deployments of locks: their servers, the options with which a client connects, and the changes of masters.
import { RedisCluster } from './servers/cluster.mjs'
import { Replicated } from './servers/replicated.mjs'
import { Watched } from './servers/sentinels.mjs'
import { Server } from './servers/server.mjs'
import { SettableServer } from './servers/settable.mjs'

const HOST = '127.0.0.1'
/** Names in many slots. Two of the names share a slot. */
const IN_SLOTS = ['plain-a', 'plain-b', 'fair-a', 'fair-b', 'mixed-a', '{pair}-a', '{pair}-b']
const USUAL = ['plain-a', 'plain-b', 'fair-a', 'fair-b', 'mixed-a', 'cold-1', 'cold-2']
const OF_QUORUM = ['plain-a', 'plain-b', 'plain-c', 'cold-1', 'cold-2', 'cold-3']

/**
 * @typedef World
 * @property {Server[]} servers the servers of the locks
 * @property {boolean} isQuorum true if a minority may forget
 * @property {boolean} persistent true if a server has its data after a restart
 * @property {boolean} areClocksSet true if the faults set clocks of servers
 * @property {boolean} tokensTellTime true if a token is the time on the clock of the machine at which it was issued
 * @property {boolean} isReplicated true if a server may take over that lacks the last grants
 * @property {number} db the database of the locks
 * @property {string[]} names the names for which all clients compete
 * @property {(ways: import('./proxy.mjs').Way[]) => object} placeBy the options with which a client connects through
 * these proxies
 * @property {(ways: import('./proxy.mjs').Way[]) => object} clientsBy the same for the clients of the run, if their
 * options differ
 * @property {() => Promise<Server[]>} masters the servers that have keys
 * @property {Record<string, (ms: number, random: () => number) => Promise<void>>} changes of masters
 * @property {string[]} lossless the changes after which no overlap is excused
 * @property {() => Promise<void>} stop
 */

const urlOf = ({ port }, db) => `redis://${HOST}:${port}/${db}`

/** The options of one client for each server. */
const eachServer = (ways, db) => ways.map((way) => ({ redis: urlOf(way, db) }))

async function single({ forget }) {
  const db = 1
  const servers = [await Server.start({ persistent: !forget, db })]
  return {
    servers,
    persistent: !forget,
    db,
    placeBy: ([way]) => ({ redis: urlOf(way, db) }),
  }
}

/** One server with a clock that the faults set. */
async function clock() {
  const db = 1
  return {
    servers: [await SettableServer.start({ db })],
    areClocksSet: true,
    tokensTellTime: false,
    db,
    placeBy: ([way]) => ({ redis: urlOf(way, db) }),
  }
}

async function quorum(count, db, kind = Server) {
  const servers = await Promise.all(Array.from({ length: count }, () => kind.start({ db })))
  return {
    servers,
    isQuorum: true,
    areClocksSet: kind === SettableServer,
    // The masters count up from their own tokens. Only the first token is a time.
    tokensTellTime: false,
    db,
    names: OF_QUORUM,
    placeBy: (ways) => ({ masters: ways.map((way) => urlOf(way, db)) }),
  }
}

/** The same masters, but each client has a client of each master, and its locks are RedLocks. */
async function redLocks() {
  const masters = await quorum(3, 1)
  return { ...masters, clientsBy: (ways) => ({ votes: eachServer(ways, masters.db) }) }
}

/** Independent servers that keep their data. Each name belongs to one server, so multi-locks use several servers. */
async function spread() {
  const db = 1
  const start = () => Server.start({ persistent: true, db })
  return {
    servers: await Promise.all([start(), start(), start()]),
    persistent: true,
    db,
    clientsBy: (ways) => ({ parts: eachServer(ways, db) }),
  }
}

async function sentinel() {
  const db = 1
  const watched = await Watched.start(db)
  return {
    servers: watched.servers,
    isReplicated: true,
    db,
    placeBy: (ways) => ({ redis: { ...watched.optionsBy(ways), db } }),
    named: () => watched.named(),
    masters: () => watched.named(),
    changes: {
      'planned failover': () => watched.planned(),
      'master killed': (ms) => watched.masterKilled(ms),
      'master stopped': (ms) => watched.masterStopped(ms),
    },
    stop: () => watched.stop(),
  }
}

async function cluster() {
  const nodes = await RedisCluster.start()
  const names = IN_SLOTS
  return {
    servers: nodes.servers,
    isReplicated: true,
    masterCount: 3,
    names,
    placeBy: (ways) => ({
      cluster: {
        nodes: ways.map(({ port }) => ({ host: HOST, port })),
        natMap: Object.fromEntries(
          nodes.servers.map(({ port }, i) => [
            `${HOST}:${port}`,
            { host: HOST, port: ways[i].port },
          ]),
        ),
      },
    }),
    masters: () => nodes.masters(),
    changes: {
      'cluster failover': (ms, random) => nodes.planned(ms, random),
      'cluster takeover': (ms, random) => nodes.takeover(ms, random),
      'master killed': (ms, random) => nodes.masterKilled(ms, random),
      'master stopped': (ms, random) => nodes.masterStopped(ms, random),
      'slot moved': (ms, random) => nodes.slotMoved(ms, random, names),
    },
    // The old master waits until its replica has all data. Then it sends clients to the replica.
    lossless: ['cluster failover', 'slot moved'],
    stop: () => nodes.stop(),
  }
}

async function replicas() {
  const db = 1
  const pair = await Replicated.start(db)
  return {
    servers: pair.servers,
    isReplicated: true,
    db,
    /** Each client has one proxy, which leads to the master. */
    targets: [pair.servers[0]],
    placeBy: ([way]) => {
      pair.ways.push(way)
      return { redis: urlOf(way, db) }
    },
    masters: () => pair.masters(),
    changes: {
      'lagging replica promoted': (ms, random) => pair.promoted(ms, random),
      'demoted, connections stay': (ms, random) => pair.demoted(ms, random),
      'address leads to the demoted': (ms, random) => pair.misled(ms, random),
    },
    lossless: ['address leads to the demoted'],
    stop: () => pair.stop(),
  }
}

export const WORLDS = {
  single,
  clock,
  clocks3: () => quorum(3, 1, SettableServer),
  quorum3: () => quorum(3, 1),
  quorum5: () => quorum(5, 0),
  redlock3: redLocks,
  spread3: spread,
  sentinel,
  cluster,
  replicas,
}

/** @returns {Promise<World>} */
export async function startWorld(name, options) {
  const world = await WORLDS[name](options)
  const whole = {
    clientsBy: world.placeBy,
    isQuorum: false,
    areClocksSet: false,
    tokensTellTime: true,
    persistent: false,
    isReplicated: false,
    db: 0,
    masterCount: 1,
    names: USUAL,
    targets: world.servers,
    masters: async () => world.servers,
    changes: {},
    lossless: [],
    ...world,
  }
  return {
    ...whole,
    stop: async () => {
      await world.stop?.()
      await Promise.all(world.servers.map((server) => server.stop()))
    },
  }
}
