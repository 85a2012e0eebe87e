import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions, type Lease } from '../../src/index.ts'
import { atLoad } from './at-load.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { type FaultProxy, type ProxyRequest, startProxy } from './proxy.ts'
import { type RedisServer, sharedServer } from './redis-server.ts'
import * as scripts from './scripts.ts'
import { Stalls } from './stalls.ts'

/** The SHA-1 of each script, which traps of the proxy match. */
export const SHA = {
  acquire: scripts.acquire.sha1,
  acquireAll: scripts.acquireAll.sha1,
  release: scripts.release.sha1,
  handOver: scripts.handOver.sha1,
  renew: scripts.renew.sha1,
  acquireFair: scripts.acquireFair.sha1,
  releaseFair: scripts.releaseFair.sha1,
  batchFair: scripts.batchFair.sha1,
  heartbeat: scripts.heartbeat.sha1,
} as const

/** The client receives options for Redis, or an ioredis client of the user with default settings. */
export type Source = 'options' | 'instance'

/** Short times for quick tests. `leaseMs` is long, because most of these tests are not about the lease. */
const QUICK = { commandTimeoutMs: 200, outageMs: 4_000, leaseMs: 10_000 }

export interface Rig {
  readonly server: RedisServer
  /** The proxy between the server and all clients except the witnesses. Each test has a new proxy. */
  readonly proxy: FaultProxy
  /** Returns a client behind the proxy. At the end of the test, the proxy is healed and then the client is closed. */
  client(options?: Omit<HoldfastOptions, 'redis'>, source?: Source): Holdfast
  /** Returns a client that connects to the server directly, without faults. */
  witness(options?: Omit<HoldfastOptions, 'redis'>): Holdfast
  /** Returns the hash of the lock in Redis: the holders and their hold counts. */
  hash(name: string): Promise<Record<string, string>>
  exists(name: string): Promise<boolean>
  /** Returns the last request with this script that reached the proxy. */
  lastRequest(script: keyof typeof SHA): ProxyRequest
  /** Waits until this number of clients has subscribed to the channel of the lock. */
  listening(name: string, clients?: number): Promise<void>
  /** Returns the waiters in the queue of a fair lock, in order. */
  queue(name: string): Promise<string[]>
  /** Waits until the queue in Redis has this number of places. The answers may still be on their way to the waiters. */
  queued(name: string, places: number): Promise<void>
  /** Waits until the client listens for grants; with `not`, until it no longer listens. */
  hears(client: Holdfast, not?: 'not'): Promise<void>
}

/** Starts one server for the file, and a new proxy for each test. Call it at the top of a file. */
export function faultRig(): Rig {
  const server = sharedServer()
  let proxy: FaultProxy
  beforeEach(async () => {
    proxy = await startProxy(server.port)
    // Loads the scripts first, so that a trap catches the first use of a script and not a NOSCRIPT error.
    for (const { source } of Object.values(scripts)) await server.admin.script('LOAD', source)
  })
  return {
    server,
    get proxy() {
      return proxy
    },
    client(options = {}, source = 'options') {
      const redis =
        source === 'options' ? { host: proxy.host, port: proxy.port } : usersInstance(proxy)
      // With such a limit, the test also needs answers on a busy machine.
      const { commandTimeoutMs = 0 } = options
      const patient = commandTimeoutMs >= 5_000 ? { outageMs: 2 * commandTimeoutMs } : {}
      const client = new Holdfast({ redis, ...QUICK, ...patient, ...options })
      atEnd(() => client.close(), { beforeCheck: true })
      atEnd(() => proxy.heal(), { beforeCheck: true })
      return client
    },
    witness(options = {}) {
      const client = new Holdfast({ redis: server.url, ...options })
      atEnd(() => client.close(), { beforeCheck: true })
      return client
    },
    hash: (name) => server.admin.hgetall(name),
    exists: async (name) => (await server.admin.exists(name)) === 1,
    lastRequest(script) {
      const request = proxy.requests.findLast(({ args }) => args[0] === SHA[script])
      if (request === undefined) throw new Error(`No request with the script ${script}`)
      return request
    },
    async listening(name, clients = 1) {
      await eventually(
        async () => {
          const reply = await server.admin.pubsub('NUMSUB', `redisson_lock__channel:{${name}}`)
          return Number(reply[1]) === clients
        },
        { message: `${clients} listener(s) at ${name}` },
      )
    },
    queue: (name) => server.admin.zrange(`holdfast_queue:{${name}}`, '0', '-1'),
    async queued(name, places) {
      await eventually(
        async () => (await server.admin.zcard(`holdfast_queue:{${name}}`)) === places,
        { message: `${places} place(s) in the queue for ${name}` },
      )
    },
    async hears(client, not) {
      await eventually(
        async () => {
          const reply = await server.admin.pubsub('NUMSUB', `holdfast_inbox:${client.id}`)
          return Number(reply[1]) === (not ? 0 : 1)
        },
        { message: `${client.id} ${not ? 'not ' : ''}to hear of grants` },
      )
    },
  }
}

/** Returns an ioredis client with the defaults: it queues commands, sends them again and never gives up. */
export function usersInstance({ host, port }: { host: string; port: number }): Redis {
  // Without this setting, ioredis would wait up to 2 s for the socket to close.
  const redis = new Redis({ host, port, disconnectTimeout: 20 })
  redis.on('error', () => undefined)
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  return redis
}

/** Records the events of a client. */
export class Diary {
  readonly acquired: number[] = []
  readonly released: number[] = []
  readonly lost: number[] = []
  readonly reasons: string[] = []
  readonly errors: Error[] = []
  late = 0
  /** The number of confirmed renewals of all holds. */
  renewed = 0

  constructor(client: Holdfast) {
    client.on('acquired', ({ token }) => this.acquired.push(token))
    client.on('released', ({ token }) => this.released.push(token))
    client.on('lost', ({ token, error }) => {
      this.lost.push(token)
      this.reasons.push(error.reason)
    })
    client.on('error', (error) => this.errors.push(error))
    client.on('late', () => {
      this.late += 1
    })
    client.on('renewed', ({ holds }) => {
      this.renewed += holds
    })
  }
}

/**
 * Returns the result of the work. Fails if the work takes longer than `atLoad(ms)`. The time in which this process
 * stood still does not count.
 */
export async function within<T>(withoutLoadMs: number, work: Promise<T>): Promise<T> {
  const ms = atLoad(withoutLoadMs)
  const stalls = new Stalls()
  const endsAt = performance.now() + ms
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<never>((_, reject) => {
    const look = () => {
      const leftMs = endsAt + stalls.ms - performance.now()
      if (leftMs > 0) timer = setTimeout(look, leftMs)
      else reject(new Error(`It took longer than ${ms} ms`))
    }
    timer = setTimeout(look, ms)
  })
  try {
    return await Promise.race([work, timeUp])
  } finally {
    clearTimeout(timer)
    stalls.stop()
  }
}

/** Returns the result or the error of a promise, and its time in milliseconds. */
export async function outcome<T>(
  work: Promise<T>,
): Promise<{ value?: T; error?: unknown; ms: number }> {
  const start = performance.now()
  const ms = () => performance.now() - start
  return work.then(
    (value) => ({ value, ms: ms() }),
    (error: unknown) => ({ error, ms: ms() }),
  )
}

/** Returns the lease. Fails the test if there is no lease. */
export function granted(lease: Lease | null): Lease {
  if (lease === null) throw new Error('The lock was not granted')
  return lease
}
