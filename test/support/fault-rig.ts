import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions, type Lease } from '../../src/index.ts'
import { atLoad } from './at-load.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { type FaultProxy, type ProxyRequest, startProxy } from './proxy.ts'
import { type RedisServer, sharedServer } from './redis-server.ts'
import * as scripts from './scripts.ts'
import { Stalls } from './stalls.ts'

/** The hash of each script: what a trap of the proxy matches. */
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

/** How a client is given Redis: by options, or as an ioredis client of the user's with defaults. */
export type Source = 'options' | 'instance'

/** Short enough for quick tests; `leaseMs` is long where it is not the subject. */
const QUICK = { commandTimeoutMs: 200, outageMs: 4_000, leaseMs: 10_000 }

export interface Rig {
  readonly server: RedisServer
  /** Between the server and every client but the witnesses; anew for each test. */
  readonly proxy: FaultProxy
  /** A client behind the proxy. The proxy is healed before it is closed at the end of the test. */
  client(options?: Omit<HoldfastOptions, 'redis'>, source?: Source): Holdfast
  /** A client with a way of its own to the server, which no fault touches. */
  witness(options?: Omit<HoldfastOptions, 'redis'>): Holdfast
  /** Who holds the lock, and how often, as Redis has it. */
  hash(name: string): Promise<Record<string, string>>
  exists(name: string): Promise<boolean>
  /** The last request with that script that arrived at the proxy. */
  lastRequest(script: keyof typeof SHA): ProxyRequest
  /** Waits until as many clients as given listen for the release of the lock. */
  listening(name: string, clients?: number): Promise<void>
  /** Those who queue for a fair lock, in order. */
  queue(name: string): Promise<string[]>
  /** Waits until as many as given queue for it, as Redis has it: the waiter may not know yet. */
  queued(name: string, places: number): Promise<void>
  /** Waits until the client, which queues and knows it, hears of what it is granted; or `not` any more. */
  hears(client: Holdfast, not?: 'not'): Promise<void>
}

/** One server for the file, a fresh proxy for each test. Call it at the top of a file. */
export function faultRig(): Rig {
  const server = sharedServer()
  let proxy: FaultProxy
  beforeEach(async () => {
    proxy = await startProxy(server.port)
    // So that a trap for a script springs at its first use: no detour by NOSCRIPT.
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
      // A test with such a limit needs answers on a busy machine too.
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

/** As users make them: it queues, sends again and never gives up. */
export function usersInstance({ host, port }: { host: string; port: number }): Redis {
  // The one setting spares the test the 2 s for which ioredis waits for a socket to close.
  const redis = new Redis({ host, port, disconnectTimeout: 20 })
  redis.on('error', () => undefined)
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  return redis
}

/** What a client told by its events. */
export class Diary {
  readonly acquired: number[] = []
  readonly released: number[] = []
  readonly lost: number[] = []
  readonly reasons: string[] = []
  readonly errors: Error[] = []
  late = 0
  /** Confirmed renewals, counted for each hold. */
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
 * Resolves or rejects as the work does. Fails if the work takes longer than `atLoad(ms)`, without the time in which this
 * process stood still.
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

/** What a promise came to, and after how many milliseconds. */
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

/** The lease, or a failure of the test. */
export function granted(lease: Lease | null): Lease {
  if (lease === null) throw new Error('The lock was not granted')
  return lease
}
