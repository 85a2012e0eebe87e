import type { ClientConnection } from './local/server-connection.ts'
import type { ServerEvents } from './local/server-events.ts'
import { LEAST_LEASE_MS } from './local/short-leases.ts'
import type { Settings } from './options/settings.ts'
import type { LockServer } from './servers/lock-server.ts'
import { quorumOf, quorumSettings } from './servers/quorum/new-quorum.ts'
import { sourceOf } from './servers/redis/connection/given-source.ts'
import {
  isClient,
  isCluster,
  keyPrefixOf,
  labelOf,
  type RedisSource,
} from './servers/redis/connection/open-client.ts'
import { REDIS_KINDS } from './servers/redis/kinds.ts'
import { nameRule } from './servers/redis/name-rule.ts'
import { RedisServer } from './servers/redis/redis-server.ts'
import { WatchdogThread } from './servers/redis/thread/watchdog-thread.ts'

/** Connects a client to the server or the quorum where its locks are stored. */
export type Connect = (settings: Settings, events: ServerEvents) => ClientConnection

export const connectToRedis: Connect = (settings, events) =>
  settings.isQuorum ? majority(settings, events) : oneServer(settings, events)

function oneServer(settings: Settings, events: ServerEvents): ClientConnection {
  const [source] = sourcesOf(settings) as [RedisSource]
  const server = redisServer(source, settings, events)
  const thread = threadFor(source, settings, events)
  return {
    server,
    leastLeaseMs: LEAST_LEASE_MS,
    standIn: thread,
    ...namingOf([source]),
    async disconnect() {
      server.disconnect()
      await thread?.terminate()
    },
  }
}

/** Connects a client to several independent masters. A majority of the masters holds each lock. */
function majority(settings: Settings, events: ServerEvents): ClientConnection {
  const sources = sourcesOf(settings)
  const servers = sources.map((source) => redisServer(source, settings, events))
  const quorum = quorumOf(servers, quorumSettings(settings))
  return {
    server: quorum,
    leastLeaseMs: LEAST_LEASE_MS,
    longestLeaseMs: settings.longestLeaseMs,
    ...namingOf(sources),
    async disconnect() {
      quorum.disconnect()
      for (const server of servers) server.disconnect()
    },
  }
}

/**
 * Combines the servers of several clients into one quorum. These servers stay open when the quorum
 * is closed.
 *
 * @param servers one server of each client
 * @param nameOf returns the key of a lock on one server. `rawName` is the name of the lock in the
 * quorum, and `at` is the index of the server
 */
export function majorityOf(
  servers: readonly LockServer[],
  settings: Settings,
  nameOf: (rawName: string, at: number) => string,
): LockServer {
  return quorumOf(servers as RedisServer[], quorumSettings(settings), nameOf)
}

const sourcesOf = ({ sources }: Settings): RedisSource[] => sources.map(sourceOf)

function redisServer(
  source: RedisSource,
  { commandTimeoutMs, counterTtlMs, sharded, durability, label }: Settings,
  events: ServerEvents,
): RedisServer {
  const options = {
    ...{ counterMs: counterTtlMs, sharded, durability, label, onOutage: events },
    // Masters have only plain locks. With these kinds, their errors say which kind has a name.
    kinds: REDIS_KINDS,
  }
  return new RedisServer(source, commandTimeoutMs, (error) => events.error(error), options)
}

function namingOf(
  sources: readonly RedisSource[],
): Pick<ClientConnection, 'keyPrefix' | 'nameRule' | 'address'> {
  return {
    keyPrefix: keyPrefixOf(sources[0] as RedisSource),
    nameRule: nameRule(sources.some((one) => isClient(one) && isCluster(one))),
    address: sources.map(labelOf).join(', '),
  }
}

function threadFor(
  source: RedisSource,
  { commandTimeoutMs, silenceLimitMs, workerUrl }: Settings,
  events: ServerEvents,
): WatchdogThread | undefined {
  if (silenceLimitMs === undefined) return undefined
  const limits = { commandTimeoutMs, silenceLimitMs }
  return new WatchdogThread(source, limits, (error) => events.error(error), workerUrl)
}
