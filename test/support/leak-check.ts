import { activeResources } from './allowances.ts'
import { pendingSourceTimers } from './pending-timers.ts'
import { runningServers, type WatchedServer } from './redis-server.ts'

/** The kinds of leaks that a test may leave behind, and the reason. */
export interface Leaves {
  keys?: boolean
  channels?: boolean
  resources?: boolean
  timers?: boolean
  why: string
}

interface Traces {
  /** The fault of each key, by the name of the key. */
  keys: Map<string, string>
  channels: Set<string>
  flushes: number
}

/** The state before the test. */
export interface Baseline {
  resources: Map<string, number>
  timers: Map<string, number>
  servers: Map<WatchedServer, Traces>
}

/**
 * Keys that may stay if they have a TTL. They are the counter of fencing tokens, the owners that lost a lock by force,
 * and what Redisson stores about an unlock. They are also results of requests that count once, rounds and outcomes of
 * barriers, and kinds of numbers. A client that could not delete its data may leave this data, too.
 */
const OUTLIVES_ITS_LOCK =
  /^[^{]*(redisson_(lock_token|unlock_latch)|holdfast_(forced|request|client|kind|barrier|settled|rate))\b/
/** The mark of a master, which the master keeps forever. */
const STAYS = 'holdfast_birth'
/** Sentinels use this channel to find each other. */
export const GREETING = '__sentinel__:hello'

export async function takeBaseline(): Promise<Baseline> {
  const servers = new Map<WatchedServer, Traces>()
  for (const server of runningServers) {
    // If a test left a server killed or paused, the next test that uses the server revives it.
    if (server.running && !server.paused) servers.set(server, await tracesOn(server))
  }
  return { resources: activeResources(), timers: pendingSourceTimers(), servers }
}

/** Describes everything that exists now but did not exist before. The list is empty if the test left nothing behind. */
export async function leaksSince(before: Baseline, leaves?: Leaves): Promise<string[]> {
  const leaks: string[] = []
  if (!leaves?.resources) {
    for (const [type, count] of grown(before.resources, activeResources())) {
      leaks.push(`${count} active ${type}${describeHandles(type)}`)
    }
  }
  if (!leaves?.timers) {
    for (const [place, count] of grown(before.timers, pendingSourceTimers())) {
      leaks.push(`${count} pending timer, made ${place}`)
    }
  }
  for (const server of runningServers) {
    if (!server.running) continue
    const traces = before.servers.get(server)
    const isSame = traces?.flushes === server.flushes
    const now = await tracesOn(server)
    if (!leaves?.channels) {
      for (const channel of now.channels) {
        if (!traces?.channels.has(channel)) leaks.push(`a subscription to ${channel}`)
      }
    }
    if (leaves?.keys) continue
    for (const [key, fault] of now.keys) {
      if (!(isSame && traces.keys.has(key))) leaks.push(`the key ${key}, ${fault}`)
    }
  }
  return leaks
}

/** Returns the keys that a test must not leave behind, with their TTL, and the channels with subscribers. */
async function tracesOn(server: WatchedServer): Promise<Traces> {
  if (server.paused) server.resume()
  const { admin } = server
  const keys = new Map<string, string>()
  for (const key of await admin.keys('*')) {
    if (key === STAYS) continue
    const ttl = await admin.pttl(key)
    if (ttl === -1) keys.set(key, 'without a TTL')
    else if (ttl >= 0 && !OUTLIVES_ITS_LOCK.test(key)) keys.set(key, `with a TTL of ${ttl} ms`)
  }
  const channels = new Set((await admin.pubsub('CHANNELS')) as string[])
  // Redis 7.0 and later have sharded channels.
  const sharded = await admin.pubsub('SHARDCHANNELS').catch(() => [])
  for (const channel of sharded as string[]) channels.add(`${channel} (sharded)`)
  const patterns = Number(await admin.pubsub('NUMPAT'))
  if (patterns > 0) channels.add(`${patterns} pattern(s)`)
  channels.delete(GREETING)
  return { keys, channels, flushes: server.flushes }
}

function grown(before: Map<string, number>, now: Map<string, number>): [string, number][] {
  return [...now]
    .map(([what, count]): [string, number] => [what, count - (before.get(what) ?? 0)])
    .filter(([, count]) => count > 0)
}

/** For sockets, returns their ports as a hint. Node.js offers only this internal list. */
function describeHandles(type: string): string {
  if (type !== 'TCPSocketWrap') return ''
  const { _getActiveHandles } = process as unknown as { _getActiveHandles?: () => object[] }
  const ports = (_getActiveHandles?.() ?? []).flatMap((handle) =>
    'remotePort' in handle && handle.remotePort ? [`${handle.remotePort}`] : [],
  )
  return ` (open sockets lead to ports ${ports.join(', ') || 'unknown'})`
}
