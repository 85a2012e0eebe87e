// Causes faults, one after another. The seed decides the target and the duration of each fault.
import { setTimeout as pause } from 'node:timers/promises'
import { ALL_FORGOTTEN, lockOf, SOME_FORGOTTEN } from './faults/amnesia.mjs'
import { CLOCK, setClock } from './faults/clock.mjs'
import { NETWORK } from './faults/network.mjs'
import { ALONE, SERVER } from './faults/server.mjs'
import { pick, pickWeighted } from './random.mjs'

/** The longest silence of a watched server that causes no failover, in milliseconds. */
const SILENT_MS = 300
const LONGER_THAN_A_LEASE_MS = 2_000
/** Longer than the timeout of one request. */
const LONGER_THAN_A_TIMEOUT_MS = 400
/** The faults of servers that are also possible with an embedded server. */
const EMBEDDED = [
  'connections killed',
  'connections killed again and again',
  'listeners killed',
  'scripts flushed',
  'stopped',
]
const PROCESS = ['paused', 'stalled', 'killed', 'reopened']

/**
 * The faults of each storm: `[weight, name, start]`. The function `start(random, ms)` returns a text about the fault,
 * and `done`, which resolves at its end.
 *
 * @param stage the clients and their proxies, the world, and the function that reports a possible loss
 */
export const STORMS = {
  /** Faults of clients. */
  clients: ({ clients }) => [
    [8, 'network', (random, ms) => onWays(clients, random, ms)],
    [3, 'process', (random, ms) => onProcess(clients, random, ms)],
  ],
  /** Faults of servers that keep their data. */
  servers: (stage) => [[1, 'server', (random, ms) => onServers(stage, random, ms)]],
  /** For libraries that treat a lock as held although its lease ended while the process was stopped. */
  pauses: ({ clients }) => [[1, 'pause', (random, ms) => onPause(clients, random, ms)]],
  /** For libraries that repeat a request after its reply was lost, and count the request twice. */
  replies: ({ clients }) => [[1, 'replies lost', (random) => onReplies(clients, random)]],
  /** Faults that make a server forget data, or that replace a server. */
  losses: (stage) => [
    [Object.keys(stage.world.changes).length, 'change', (...is) => onChange(stage, ...is)],
    [stage.forgetful ? 2 : 0, 'loss', (...is) => onLoss(stage, ...is)],
    [stage.world.areClocksSet ? 4 : 0, 'clock', (...is) => onClock(stage, ...is)],
  ],
}

/** @param pace `isOver`, `isCalm`, and `everyMs`: the longest time between two faults */
export async function storm(faults, random, { isOver, isCalm, everyMs }, log) {
  if (faults.every(([weight]) => weight === 0)) return
  while (!isOver()) {
    await pause(random() * everyMs)
    if (isCalm() || isOver()) continue
    const ms = pickWeighted(random, [
      [6, 5 + random() * 100],
      [3, 100 + random() * 900],
      [0.7, 1_000 + random() * 2_500],
    ])
    const [, , start] = pickWeighted(
      random,
      faults.map((one) => [one[0], one]),
    )
    await log(ms, start(random, ms))
  }
}

function onWays(clients, random, ms) {
  const hurt = pick(random, clients)
  const what = pick(random, Object.keys(NETWORK))
  const ways = random() < 0.5 ? hurt.ways : [pick(random, hurt.ways)]
  const where = `${hurt.label}, ${ways.length} of ${hurt.ways.length} ways`
  return { what, where, done: NETWORK[what](ways, ms, random) }
}

function onProcess(clients, random, ms) {
  const hurt = pick(random, clients)
  const what = pick(random, PROCESS)
  return { what: `client ${what}`, where: hurt.label, done: hurt[what](ms) }
}

function onPause(clients, random, ms) {
  const hurt = pick(random, clients)
  const what = pick(random, ['paused', 'stalled'])
  const done = hurt[what](LONGER_THAN_A_LEASE_MS + ms / 10)
  return { what: `client ${what}`, where: hurt.label, done }
}

function onReplies(clients, random) {
  const hurt = pick(random, clients)
  const done = NETWORK['replies lost'](hurt.ways, LONGER_THAN_A_TIMEOUT_MS + random() * 200)
  return { what: 'replies lost', where: hurt.label, done }
}

function onServers({ world }, random, ms) {
  const { servers, isQuorum, isReplicated, persistent, areClocksSet } = world
  const what = pick(random, [
    ...(areClocksSet ? EMBEDDED : Object.keys(SERVER)),
    ...(isReplicated ? [] : ['read only']),
    ...(persistent ? ['restarted'] : []),
  ])
  const spare = servers.length - Math.floor(servers.length / 2) - 1
  // If more than a minority fails at once, this is an outage and no violation. So all masters fail sometimes.
  const all = isQuorum ? servers.length : 1
  const some = isQuorum && random() < 0.8 ? 1 + Math.floor(random() * spare) : all
  const forMs = isReplicated ? Math.min(ms, SILENT_MS) : ms
  const chosen = sample(random, servers, some)
  const one = (server) => (ALONE[what] ?? SERVER[what])(server, forMs)
  const where = `${some} of ${servers.length} servers`
  return { what, where, done: Promise.all(chosen.map(one)) }
}

function onChange({ world, roles }, random, ms) {
  const what = pick(random, Object.keys(world.changes))
  const done = async () => {
    roles.losesNothing = world.lossless.includes(what)
    await world.changes[what](ms, random)
    // The next change needs replicas that are up to date.
    await roles.settled()
    roles.losesNothing = false
  }
  return { what, where: '', done: done() }
}

function onLoss({ world, forgets, longestLeaseMs }, random, ms) {
  const { servers, isQuorum, areClocksSet, names } = world
  // A master that loses a counter does not notice the loss, so it does not rest. Its next token then comes only from
  // its clock, which the faults may set back.
  const isLeftOut = (one) => one === 'evicted' && isQuorum && areClocksSet
  const all = [...Object.keys(ALL_FORGOTTEN), ...Object.keys(SOME_FORGOTTEN)]
  const what = pick(
    random,
    all.filter((one) => !isLeftOut(one)),
  )
  const server = pick(random, servers)
  const lock = lockOf(what, random, names)
  const done = async () => {
    // Fewer than a majority may then have the lock, but no other client gets it.
    const isForgiven = isQuorum && what in ALL_FORGOTTEN
    const over = forgets(lock, { isForgiven })
    await (ALL_FORGOTTEN[what] ?? SOME_FORGOTTEN[what])(server, ms, lock)
    over()
    // A quorum tolerates one loss at a time.
    if (isQuorum) await pause(longestLeaseMs + 500)
  }
  return { what, where: `${lock ?? 'all'}, one of ${servers.length} servers`, done: done() }
}

function onClock({ world, forgets, longestLeaseMs }, random) {
  const { servers } = world
  const what = pick(random, CLOCK)
  const server = pick(random, servers)
  // A clock that is set forward shortens leases. Some of these leases end only after the fault.
  const over = forgets(undefined, { endsMs: longestLeaseMs })
  const done = setClock(what, server, random, what === 'clock set forward' ? over : () => {})
  return { what, where: `one of ${servers.length} servers`, done }
}

function sample(random, all, count) {
  const rest = [...all]
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0])
}
