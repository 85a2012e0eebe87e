import type { Redis } from 'ioredis'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import type { LockRecord } from '../../src/servers/memory/records/lock-record.ts'
import { isWriter } from '../../src/servers/read-write-server.ts'
import { FOREVER } from '../../src/servers/record-store.ts'
import type { RecordPart } from '../../src/servers/records/open-record.ts'
import {
  INBOX,
  latchKeys,
  lockKeys,
  queueKeys,
  readWriteKeys,
  requestsOf,
} from '../../src/servers/redis/calls/keys.ts'
import { atEnd } from './lifetime.ts'
import type { WorldServer } from './masters.ts'
import { runningServers, type WatchedServer } from './redis-server.ts'

/** The state of a part of a record, as it is stored. */
export function partOf<S extends object>(record: LockRecord | undefined, part: RecordPart<S>): S {
  return (record?.plain.parts[part.name]?.state as S | undefined) ?? part.newState()
}

/** A server in memory that counts what it is asked. */
export class CountingServer extends MemoryLockServer {
  requests = 0

  override tidy(): void {
    this.requests += 1
    super.tidy()
  }
}

/** A server in memory as the suites and the leak check know one. It cannot be down. */
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
    this.memory.lookAgain()
  }
}

/** It is watched for leaks until the test, or the file, that started it is over. */
export function startMemoryServer(): WatchedMemoryServer {
  const server = new WatchedMemoryServer()
  const servers = runningServers as Set<WatchedServer>
  servers.add(server)
  atEnd(() => void servers.delete(server))
  return server
}

/** What is behind a name, as a server of Redis would have it. */
interface Key {
  readonly record: LockRecord
  /** As PTTL answers it. */
  ttlMs(): number
  expireIn(ms: number): void
  delete(): void
}

/** The channel in Redis for one in memory, such as `latch it`. */
function channelOf(channel: string): string {
  const [kind, rawName = ''] = [
    channel.slice(0, channel.indexOf(' ')),
    channel.slice(channel.indexOf(' ') + 1),
  ]
  return kind === 'latch' ? latchKeys(rawName, false).channel : channel
}

/** Answers what the suites ask of a server of Redis by its admin connection, as far as they do. */
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
    return this.#all().get(key)?.ttlMs() ?? -2
  }

  async pexpire(key: string, ms: number): Promise<void> {
    this.#all().get(key)?.expireIn(ms)
  }

  async del(key: string): Promise<void> {
    this.#all().get(key)?.delete()
  }

  async hgetall(key: string): Promise<Record<string, string>> {
    const record = this.#all().get(key)?.record
    if (record === undefined || record.rawName !== key) return {}
    if (record.holder !== null) return { [record.holder.owner]: String(record.holder.holds) }
    const { mode, owners } = record.readWrite
    if (mode === null) return {}
    const holdsOf = (owner: string) => String(record.readWrite.heldBy(owner)?.holds)
    return { mode, ...Object.fromEntries(owners.map((owner) => [owner, holdsOf(owner)])) }
  }

  /** Gives a lock to somebody, without an expiry. */
  async hset(key: string, owner: string, holds: number | string): Promise<void> {
    const { now } = this.#server
    const record = this.#server.record(key, now)
    if (isWriter(owner)) record.readWrite.give(owner, Number(holds), FOREVER, now)
    // Its mode is that of whoever has it.
    else if (owner !== 'mode') record.holder = { owner, holds: Number(holds), endsAt: FOREVER }
  }

  /** Sets the counter of a lock. */
  async set(key: string, token: string, _px: 'PX', ms: number): Promise<void> {
    const { now } = this.#server
    const rawName = /\{(.+)\}$/.exec(key)?.[1] ?? ''
    this.#server.record(rawName, now).counter = { token: Number(token), endsAt: now + ms }
  }

  async pubsub(what: 'CHANNELS' | 'SHARDCHANNELS' | 'NUMPAT'): Promise<string[] | number> {
    if (what === 'NUMPAT') return 0
    if (what === 'SHARDCHANNELS') return []
    return [
      ...this.#server.releases.names.map((rawName) => lockKeys(rawName).channel),
      ...this.#server.readWriteReleases.names.map((rawName) => readWriteKeys(rawName).channel),
      ...this.#server.messages.names.map(channelOf),
      ...this.#server.grants.names.map((client) => INBOX + client),
      ...this.#server.revocations.names.map(requestsOf),
    ]
  }

  async info(): Promise<string> {
    return `cmdstat_evalsha:calls=${this.#server.requests}`
  }

  /** A line for each connection, and one for this. */
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
    for (const record of this.#server.records) {
      const { lock, counter } = lockKeys(record.rawName)
      const { queue, waiting } = queueKeys(record.rawName)
      if (record.holder !== null) {
        const free = () => {
          record.holder = null
        }
        all.set(lock, this.#key(record, record.holder, free))
      }
      if (record.counter !== null) {
        const forget = () => {
          record.counter = null
        }
        const { endsAt } = record.counter
        const expiry = {
          endsAt,
          set: (until: number) => {
            if (record.counter !== null) record.counter = { ...record.counter, endsAt: until }
          },
        }
        all.set(counter, this.#key(record, expiry, forget))
      }
      const { latch } = record.plain.parts
      if (latch?.untilMs === FOREVER) {
        const open = () => {
          delete record.plain.parts.latch
        }
        all.set(lock, this.#key(record, { endsAt: FOREVER }, open))
      }
      const hidden = { endsAt: this.#server.now + 1 }
      this.#addReadWrite(record, all, hidden)
      if (record.queue.size > 0) all.set(queue, this.#key(record, hidden))
      else if (!record.queue.isForgotten) all.set(waiting, this.#key(record, hidden))
    }
    return all
  }

  #addReadWrite(record: LockRecord, all: Map<string, Key>, hidden: { endsAt: number }): void {
    const { readWrite } = record
    const { waiting } = readWrite
    const { six, prefix } = readWriteKeys(record.rawName)
    const [lock, , readers, writers, marks, phase] = six as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    if (readWrite.mode !== null) {
      all.set(
        lock,
        this.#key(record, readWrite, () => readWrite.free()),
      )
    }
    for (const owner of readWrite.owners) {
      const hold = readWrite.heldBy(owner)
      const isAlive = readWrite.ttlMsOf(owner, this.#server.now) !== 'gone'
      if (hold === null || isWriter(owner) || !isAlive) continue
      all.set(`${prefix}:${owner}:rwlock_timeout:1`, this.#key(record, hold))
    }
    if (waiting.size('read') > 0) all.set(readers, this.#key(record, hidden))
    if (waiting.size('write') > 0) all.set(writers, this.#key(record, hidden))
    if (waiting.marks > 0) all.set(marks, this.#key(record, hidden))
    if (waiting.isPhase) all.set(phase, this.#key(record, hidden))
  }

  #key(
    record: LockRecord,
    what: { endsAt: number; set?(until: number): void },
    forget = () => {},
  ): Key {
    const server = this.#server
    return {
      record,
      ttlMs: () => (what.endsAt === FOREVER ? -1 : Math.ceil(what.endsAt - server.now)),
      expireIn: (ms) => {
        what.endsAt = server.now + ms
        what.set?.(what.endsAt)
      },
      delete: forget,
    }
  }
}
