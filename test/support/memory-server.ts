import type { Redis } from 'ioredis'
import type { Holdfast } from '../../src/index.ts'
import { type MemoryClientOptions, newMemoryClient } from '../../src/memory-client.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import { isWriter } from '../../src/servers/owner-id.ts'
import { FOREVER, type NameRecord } from '../../src/servers/record-store.ts'
import { COUNTER } from '../../src/servers/records/counter.ts'
import { OpenRecord, type RecordPart } from '../../src/servers/records/open-record.ts'
import { sizeOf } from '../../src/servers/records/plain-data.ts'
import {
  freeAll,
  giveHold,
  holdLeft,
  READ_WRITE_PART,
} from '../../src/servers/records/read-write/read-write-holds.ts'
import { LOCK_PART } from '../../src/servers/records/stored-lock.ts'
import { INBOX, lockKeys, requestsOf } from '../../src/servers/redis/calls/keys.ts'
import { queueKeys } from '../../src/servers/redis/key-names/fair.ts'
import { latchKeys } from '../../src/servers/redis/key-names/latch.ts'
import { readWriteKeys } from '../../src/servers/redis/key-names/read-write.ts'
import { atEnd } from './lifetime.ts'
import type { WorldServer } from './masters.ts'
import { runningServers, type WatchedServer } from './redis-server.ts'

/** Returns a copy of one part of a record, without expired data. */
export function partOf<S extends object>(
  server: MemoryLockServer,
  rawName: string,
  part: RecordPart<S>,
): S {
  const { parts } = server.records.get(rawName) ?? { parts: {} }
  const state = structuredClone(parts[part.name]?.state as S | undefined) ?? part.newState()
  part.expire(state, server.now)
  return state
}

/** Changes a record from outside, like an operator. */
export function edit(
  server: MemoryLockServer,
  rawName: string,
  work: (record: OpenRecord) => void,
): void {
  server.transact([rawName], ([record], moment) => {
    const opened = new OpenRecord(rawName, record as NameRecord, moment, [], '')
    work(opened)
    opened.save()
    return { answer: undefined, messages: [] }
  })
}

/**
 * A server in memory that counts its requests. Each stored record is converted to JSON and back. Each change runs
 * twice, because a real server runs a change again if another client was faster. The first run changes copies that are
 * not stored.
 */
export class CountingServer extends MemoryLockServer {
  requests = 0

  /** A client of this server. The caller closes the client. */
  newClient(options?: MemoryClientOptions): Holdfast {
    return newMemoryClient(this, options)
  }

  override transact<T>(names: readonly string[], change: Change<T>): T {
    return super.transact(names, (records, moment) => {
      change(JSON.parse(JSON.stringify(records)), moment)
      return change(records, moment)
    })
  }

  override tidy(): void {
    this.requests += 1
    super.tidy()
  }

  protected override write(name: string, record: NameRecord): void {
    super.write(name, JSON.parse(JSON.stringify(record)))
  }
}

/** A server in memory, for contract suites and the leak check. It cannot be down. */
export class WatchedMemoryServer implements WorldServer, WatchedServer {
  readonly memory = new CountingServer()
  readonly admin = new MemoryAdmin(this.memory) as unknown as Redis
  readonly running = true
  readonly paused = false
  flushes = 0

  resume(): void {}

  async flush(): Promise<void> {
    this.memory.clear()
    this.flushes += 1
  }

  async kill(): Promise<void> {
    this.memory.clear()
  }

  async restart(): Promise<void> {
    this.memory.clear()
    this.memory.checkAgain()
  }
}

/** Starts a server in memory. The leak check watches it until the test or the file that started it ends. */
export function startMemoryServer(): WatchedMemoryServer {
  const server = new WatchedMemoryServer()
  const servers = runningServers as Set<WatchedServer>
  servers.add(server)
  atEnd(() => void servers.delete(server))
  return server
}

type Change<T> = Parameters<typeof MemoryLockServer.prototype.transact<T>>[1]

/** One key that a Redis server would have for the same state. */
interface Key {
  readonly rawName: string
  /** The time of expiry, in ms of the server's time. */
  readonly endsAt: number
  expireAt?(record: OpenRecord, endsAt: number): void
  delete?(record: OpenRecord): void
}

/** Answers those commands of the admin connection that the suites use, from the state of the server in memory. */
class MemoryAdmin {
  readonly #server: CountingServer

  constructor(server: CountingServer) {
    this.#server = server
  }

  async keys(_pattern: '*'): Promise<string[]> {
    return [...this.#all().keys()]
  }

  async dbsize(): Promise<number> {
    return this.#all().size
  }

  async exists(key: string): Promise<number> {
    return this.#all().has(key) ? 1 : 0
  }

  async pttl(key: string): Promise<number> {
    const found = this.#all().get(key)
    if (found === undefined) return -2
    return found.endsAt === FOREVER ? -1 : Math.ceil(found.endsAt - this.#server.now)
  }

  async pexpire(key: string, ms: number): Promise<void> {
    const found = this.#all().get(key)
    if (found === undefined) return
    edit(this.#server, found.rawName, (record) => found.expireAt?.(record, this.#server.now + ms))
  }

  async del(key: string): Promise<void> {
    const found = this.#all().get(key)
    if (found !== undefined) {
      edit(this.#server, found.rawName, (record) => found.delete?.(record))
    }
  }

  async hgetall(key: string): Promise<Record<string, string>> {
    if (this.#all().get(key)?.rawName !== key) return {}
    const { holder } = partOf(this.#server, key, LOCK_PART)
    if (holder !== null) return { [holder.owner]: String(holder.holds) }
    const { mode, byOwner } = partOf(this.#server, key, READ_WRITE_PART)
    if (mode === null) return {}
    const counts = Object.entries(byOwner).map(([owner, { holds }]) => [owner, String(holds)])
    return { mode, ...Object.fromEntries(counts) }
  }

  /** Makes an owner the holder of a lock, without an expiry. */
  async hset(key: string, owner: string, holds: number | string): Promise<void> {
    edit(this.#server, key, (record) => {
      const hold = { owner, holds: Number(holds), endsAt: FOREVER }
      if (isWriter(owner)) {
        const { nowMs } = record
        const readWrite = record.part(READ_WRITE_PART)
        giveHold(readWrite, { owner, count: hold.holds, leaseMs: 0 }, nowMs)
        readWrite.endsAt = FOREVER
      }
      // The field `mode` needs no change, because the mode follows from the holder.
      else if (owner !== 'mode') record.part(LOCK_PART).holder = hold
    })
  }

  /** Sets the token counter of a lock. */
  async set(key: string, token: string, _px: 'PX', ms: number): Promise<void> {
    const rawName = /\{(.+)\}$/.exec(key)?.[1] ?? ''
    const counter = { token: Number(token), endsAt: this.#server.now + ms }
    edit(this.#server, rawName, (record) => Object.assign(record.part(COUNTER), counter))
  }

  async pubsub(what: 'CHANNELS' | 'SHARDCHANNELS' | 'NUMPAT'): Promise<string[] | number> {
    if (what === 'NUMPAT') return 0
    if (what === 'SHARDCHANNELS') return []
    return this.#server.messages.names.map(channelOf)
  }

  async info(): Promise<string> {
    return `cmdstat_evalsha:calls=${this.#server.requests}`
  }

  /** Returns one line for each client's connection, and one line for the admin connection. */
  async client(_list: 'LIST'): Promise<string> {
    return 'connection\n'.repeat(this.#server.connections + 1)
  }

  multi(): object {
    const calls: (() => Promise<unknown>)[] = []
    const later =
      <A extends unknown[]>(call: (...args: A) => Promise<unknown>) =>
      (...args: A) => {
        calls.push(() => call.apply(this, args))
        return chain
      }
    const chain = {
      del: later(this.del),
      hset: later(this.hset),
      pexpire: later(this.pexpire),
      exec: async () => {
        for (const call of calls) await call()
      },
    }
    return chain
  }

  #all(): Map<string, Key> {
    const all = new Map<string, Key>()
    for (const rawName of this.#server.records.keys()) {
      const { lock, counter } = lockKeys(rawName)
      const { queue, waiting } = queueKeys(rawName)
      const locked = partOf(this.#server, rawName, LOCK_PART)
      if (locked.holder !== null && locked.holder.endsAt >= this.#server.now) {
        all.set(lock, {
          rawName,
          endsAt: locked.holder.endsAt,
          expireAt: (record, endsAt) => {
            const { holder } = record.part(LOCK_PART)
            if (holder !== null) holder.endsAt = endsAt
          },
          delete: (record) => {
            record.part(LOCK_PART).holder = null
          },
        })
      }
      const { token, endsAt } = partOf(this.#server, rawName, COUNTER)
      if (token > 0) {
        all.set(counter, {
          rawName,
          endsAt,
          expireAt: (record, until) => {
            record.part(COUNTER).endsAt = until
          },
          delete: (record) => Object.assign(record.part(COUNTER), COUNTER.newState()),
        })
      }
      const latch = this.#server.records.get(rawName)?.parts.latch
      if (latch?.untilMs === FOREVER) all.set(lock, { rawName, endsAt: FOREVER })
      const hidden = { rawName, endsAt: this.#server.now + 1 }
      this.#addReadWrite(rawName, all, hidden)
      const { order, marks } = locked.queue
      if (order.length > 0) all.set(queue, hidden)
      else if (sizeOf(marks) > 0) all.set(waiting, hidden)
    }
    return all
  }

  #addReadWrite(rawName: string, all: Map<string, Key>, hidden: Key): void {
    const holds = partOf(this.#server, rawName, READ_WRITE_PART)
    const names = readWriteKeys(rawName)
    const { lock, readers, writers, alive: marks, phase, prefix } = names
    const { now } = this.#server
    if (holds.mode !== null && holds.endsAt >= now) {
      all.set(lock, {
        rawName,
        endsAt: holds.endsAt,
        expireAt: (record, endsAt) => {
          record.part(READ_WRITE_PART).endsAt = endsAt
        },
        delete: (record) => freeAll(record.part(READ_WRITE_PART)),
      })
      for (const [owner, { endsAt }] of Object.entries(holds.byOwner)) {
        if (isWriter(owner) || holdLeft(holds, owner, now) === 'gone') continue
        all.set(`${prefix}:${owner}:rwlock_timeout:1`, { rawName, endsAt })
      }
    }
    const { queue } = holds
    if (sizeOf(queue.readers.byMember) > 0) all.set(readers, hidden)
    if (sizeOf(queue.writers.byMember) > 0) all.set(writers, hidden)
    if (sizeOf(queue.untilMs) > 0) all.set(marks, hidden)
    if (queue.phaseEndsAt > 0) all.set(phase, hidden)
  }
}

/** Returns the Redis channel that corresponds to a channel in memory, for example `latch it`. */
function channelOf(channel: string): string {
  const [kind, name] = channel.split(/ (.*)/s) as [string, string]
  const channels: Record<string, (name: string) => string> = {
    latch: (rawName) => latchKeys(rawName, false).channel,
    lock: (rawName) => lockKeys(rawName).channel,
    'read-write': (rawName) => readWriteKeys(rawName).channel,
    grants: (client) => INBOX + client,
    requests: requestsOf,
  }
  return channels[kind]?.(name) ?? channel
}
