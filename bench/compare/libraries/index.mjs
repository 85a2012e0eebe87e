// All libraries and floors, in the order of the tables.
import { manifestOf } from './peer.mjs'

const peer = (id, extra) => ({ id, package: id, peer: true, waits: true, ...extra })

/**
 * The libraries with their properties. `settings` are the arguments of `open`. `floor` marks the entries with which
 * the others are compared. `polls` marks libraries that wait by repeated requests.
 */
const everything = [
  {
    id: 'floor',
    module: 'floor-set',
    label: 'floor: SET NX PX + EVALSHA',
    floor: true,
    nests: true,
  },
  {
    id: 'floor-pipelined',
    module: 'floor-set',
    label: 'floor with auto-pipelining',
    floor: true,
    settings: { pipelining: true },
  },
  { id: 'token', module: 'floor-token', label: 'floor: BLPOP + LPUSH', floor: true, waits: true },
  { id: 'holdfast', label: 'Holdfast', waits: true, nests: true, quorum: true },
  {
    id: 'holdfast-fair',
    module: 'holdfast',
    label: 'Holdfast, fair',
    waits: true,
    nests: true,
    fair: true,
    settings: { fair: true },
  },
  peer('redlock-4', { polls: true, quorum: true }),
  peer('redlock', { module: 'redlock-5', polls: true, quorum: true }),
  peer('@sesamecare-oss/redlock', { module: 'redlock-5', polls: true, quorum: true }),
  peer('redis-semaphore', { quorum: true, pollsFast: true }),
  peer('redlock-universal', { polls: true, quorum: true }),
  peer('node-redisson', { nests: true }),
  peer('simple-redis-mutex', {}),
  { id: 'redisson', label: 'Redisson (Java)', java: true, drains: true, nests: true },
  {
    id: 'redisson-fair',
    module: 'redisson',
    label: 'Redisson, fair (Java)',
    java: true,
    drains: true,
    fair: true,
    settings: { kind: 'RFairLock' },
  },
]

/** The short delay between requests of pollers, in milliseconds. */
const SHORT_MS = 10

function describe(entry) {
  const { id, module = id, package: name, settings = {}, label } = entry
  const version = name && manifestOf(name)?.version
  return {
    ...entry,
    module,
    label: label ?? `${name.replace(/^redlock-4$/, 'redlock')} ${version}`,
    settings: { ...settings, ...(name && { package: name }) },
  }
}

/** @param have `peers` is true if the peers are installed, `java` is true if there is a JVM with Redisson */
export function listLibraries(have) {
  const isThere = (entry) => (have.peers || !entry.peer) && (have.java || !entry.java)
  return everything.filter(isThere).map(describe)
}

/** Each poller appears twice: with its default delays, which run for one round only, and with short delays. */
export function withShortDelays(libraries) {
  return libraries.flatMap((library) =>
    library.polls
      ? [
          { ...library, label: `${library.label}, own delays`, slow: true },
          {
            ...library,
            label: `${library.label}, ${SHORT_MS} ms`,
            settings: { ...library.settings, pollMs: SHORT_MS },
          },
        ]
      : [library],
  )
}
