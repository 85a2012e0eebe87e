// The places where locks live: servers, how a client is told of them, and what can befall them.
import { RedisCluster } from './servers/cluster.mjs'
import { Replicated } from './servers/replicated.mjs'
import { Watched } from './servers/sentinels.mjs'
import { Server } from './servers/server.mjs'
import { SettableServer } from './servers/settable.mjs'

const HOST = '127.0.0.1'
/** Names of many slots, of which some are one's own with another. */
const IN_SLOTS = ['plain-a', 'plain-b', 'fair-a', 'fair-b', 'mixed-a', '{pair}-a', '{pair}-b']
const USUAL = ['plain-a', 'plain-b', 'fair-a', 'fair-b', 'mixed-a', 'cold-1', 'cold-2']
const OF_QUORUM = ['plain-a', 'plain-b', 'plain-c', 'cold-1', 'cold-2', 'cold-3']

/**
 * @typedef World
 * @property {Server[]} servers that locks are in
 * @property {boolean} isQuorum whether a minority may forget
 * @property {boolean} persistent whether a server that is restarted has its data
 * @property {boolean} areClocksSet whether clocks of servers are set
 * @property {boolean} tokensTellTime whether a token tells when on the machine's clock it was minted
 * @property {boolean} isReplicated whether another server may take over that lacks the last grants
 * @property {number} db the database that locks are in
 * @property {string[]} names that all fight for
 * @property {(ways: import('./proxy.mjs').Way[]) => object} placeBy how a client gets there
 * @property {() => Promise<Server[]>} masters those that have keys
 * @property {Record<string, (ms: number, random: () => number) => Promise<void>>} changes of masters
 * @property {string[]} lossless those of them after which no lock is excused
 * @property {() => Promise<void>} stop
 */

const urlOf = ({ port }, db) => `redis://${HOST}:${port}/${db}`

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

/** One server whose clock is set. */
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
    // Masters count on from tokens of their own, whose first only is a time.
    tokensTellTime: false,
    db,
    names: OF_QUORUM,
    placeBy: (ways) => ({ masters: ways.map((way) => urlOf(way, db)) }),
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
    // The old master waits until its replica has everything, and then sends clients there.
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
    /** The one way of a client leads to the master. */
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
  sentinel,
  cluster,
  replicas,
}

/** @returns {Promise<World>} */
export async function startWorld(name, options) {
  const world = await WORLDS[name](options)
  const whole = {
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
