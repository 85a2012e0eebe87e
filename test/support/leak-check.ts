import { activeResources } from './allowances.ts'
import { pendingSourceTimers } from './pending-timers.ts'
import { runningServers, type WatchedServer } from './redis-server.ts'

/** What a test may leave behind, and why. */
export interface Leaves {
  keys?: boolean
  channels?: boolean
  resources?: boolean
  timers?: boolean
  why: string
}

interface Traces {
  /** What is wrong with each key, by name. */
  keys: Map<string, string>
  channels: Set<string>
  flushes: number
}

/** What there was before the test. */
export interface Baseline {
  resources: Map<string, number>
  timers: Map<string, number>
  servers: Map<WatchedServer, Traces>
}

/**
 * A counter of fencing tokens, whom a master of several noted as forced, and what Redisson remembers of
 * an unlock, or we of a request that counts once, of a client that could not say that it was closed, or of the
 * kind of a number, if it has a TTL.
 */
const OUTLIVES_ITS_LOCK =
  /^[^{]*(redisson_(lock_token|unlock_latch)|holdfast_(forced|request|client|kind|barrier|settled))\b/
/** One master of several remembers for good since when it votes. */
const STAYS = 'holdfast_birth'
/** The channel on which Sentinels greet each other. */
export const GREETING = '__sentinel__:hello'

export async function takeBaseline(): Promise<Baseline> {
  const servers = new Map<WatchedServer, Traces>()
  for (const server of runningServers) {
    // One that a test left dead or asleep is brought back by whoever uses it next.
    if (server.running && !server.paused) servers.set(server, await tracesOn(server))
  }
  return { resources: activeResources(), timers: pendingSourceTimers(), servers }
}

/** What is there now and was not there before, in words; empty when all is clean. */
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

/** The keys that a test has to answer for, with their TTL, and the channels with subscribers. */
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
  // Not before Redis 7.0.
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

/** For sockets, where they lead to: Node's list has no other use than this hint. */
function describeHandles(type: string): string {
  if (type !== 'TCPSocketWrap') return ''
  const { _getActiveHandles } = process as unknown as { _getActiveHandles?: () => object[] }
  const ports = (_getActiveHandles?.() ?? []).flatMap((handle) =>
    'remotePort' in handle && handle.remotePort ? [`${handle.remotePort}`] : [],
  )
  return ` (open sockets lead to ports ${ports.join(', ') || 'unknown'})`
}
