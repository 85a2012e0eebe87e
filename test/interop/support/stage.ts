import type { RedisOptions } from 'ioredis'
import { Holdfast, type HoldfastLock } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { forward } from '../../support/forward.ts'
import { atEnd } from '../../support/lifetime.ts'
import { type RedisServer, sharedServer } from '../../support/redis-server.ts'
import type { ClientOptions } from '../../support/worlds.ts'
import {
  type ClientSettings,
  type Java,
  type JavaClient,
  JavaLock,
  type Kind,
  startJava,
} from './java.ts'
import { isQuiet } from './pending.ts'

/** The release of Redisson under test. */
export const redissonVersion = process.env.HOLDFAST_REDISSON ?? 'unknown'

/** The methods of a client whose locks keep all promises of an RLock. */
export type Ours = 'getLock' | 'getFairLock'
export const ours: readonly Ours[] = ['getLock', 'getFairLock']

interface JavaLockOptions {
  kind?: Kind
  /** Each thread is an owner. Without this option, the test has its own thread. */
  thread?: string
  name?: string
  client?: JavaClient
  /** True if Java uses one lock object for all requests of this thread, as most programs do. */
  keepsObject?: boolean
}

/** One server that both languages use. Each test has its own lock name and its own Java threads. */
export class Stage {
  readonly server: RedisServer
  #java: Java | undefined
  #javaClient: JavaClient | undefined
  #tests = 0

  constructor(server: RedisServer) {
    this.server = server
  }

  async setUp(): Promise<void> {
    this.#java = startJava()
    this.#javaClient = await this.#java.client({ port: this.server.port })
  }

  async nextTest(): Promise<void> {
    this.#tests += 1
    await this.server.admin.config('RESETSTAT')
  }

  get name(): string {
    return `it-${this.#tests}`
  }

  /** The JVM of this file. */
  get java(): Java {
    if (!this.#java) throw new Error('The JVM is there in tests and hooks only')
    return this.#java
  }

  /** A Redisson client with all of Redisson's defaults. */
  get javaClient(): JavaClient {
    if (!this.#javaClient) throw new Error('The Redisson client is there in tests only')
    return this.#javaClient
  }

  newJavaClient(settings: Omit<ClientSettings, 'port'>): Promise<JavaClient> {
    return this.java.client({ port: this.server.port, ...settings })
  }

  javaLock({
    kind = 'RLock',
    name = this.name,
    thread = '',
    client = this.javaClient,
    keepsObject = false,
  }: JavaLockOptions = {}): JavaLock {
    const onThread = this.threadName(thread)
    const object = keepsObject ? `${client.name} ${kind} ${name} ${onThread}` : undefined
    return new JavaLock([client], kind, [name], onThread, object)
  }

  /** Returns the owner in Redis for the holds of this Java thread. */
  javaOwner(thread = '', client = this.javaClient): Promise<string> {
    return client.ownerOn(this.threadName(thread))
  }

  threadName(thread: string): string {
    return `${this.name} ${thread}`
  }

  /** Returns a client in Node, which is closed after the test. */
  nodeClient(options: ClientOptions = {}, redis: RedisOptions = {}): Holdfast {
    const { host, port } = this.server
    const client = new Holdfast({ redis: { host, port, ...redis }, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }

  /** Returns the lock of this test for a new client. */
  nodeLock(kind: Ours = 'getLock', options?: ClientOptions): HoldfastLock {
    return this.nodeClient(options)[kind](this.name)
  }

  /** Resolves when this number of clients, in both languages together, listens for a release of the lock. */
  async listeners(count: number, name = this.name): Promise<void> {
    const channel = `redisson_lock__channel:${tagged(name)}`
    await eventually(
      async () => {
        const reply = (await this.server.admin.pubsub('NUMSUB', channel)) as unknown[]
        return Number(reply[1]) === count
      },
      { message: `${count} to listen on ${channel}` },
    )
  }

  /** Resolves when a lock in Node waits: it listens, or it has a place in the queue of the fair lock. */
  async nodeWaits(kind: Ours, name = this.name): Promise<void> {
    if (kind === 'getLock') await this.listeners(1, name)
    else await this.fairPlaces(1, name)
  }

  /** Resolves when this number of fair locks in Node has a place in the queue. */
  async fairPlaces(count: number, name = this.name): Promise<void> {
    const key = `holdfast_queue:${tagged(name)}`
    await eventually(async () => (await this.server.admin.zcard(key)) === count, {
      message: `${count} in ${key}`,
    })
  }

  /**
   * Resolves when this number of threads waits for an RFairLock, and all of them are about to sleep. Each thread
   * listens on its own channel, and sends two requests with HEXISTS before it sleeps. A thread before its second
   * request could still acquire a free lock, or sleep until the end of any lease that it sees.
   */
  async javaPlaces(count: number): Promise<void> {
    await eventually(async () => {
      const { admin, name } = { admin: this.server.admin, name: tagged(this.name) }
      const channels = await admin.pubsub('CHANNELS', `redisson_lock__channel:${name}:*`)
      const places = await admin.llen(`redisson_lock_queue:${name}`)
      const asked = await this.calls('hexists')
      return places === count && (channels as string[]).length === count && asked >= 2 * count
    })
  }

  /**
   * Resolves when all waiters of the lock sleep, so that only a message or the end of a lease can
   * wake them. A waiter that finds the lock held requests its PTTL.
   */
  async allSleep(): Promise<void> {
    await isQuiet(() => this.calls('pttl'))
  }

  /** Resolves when the only waiter is in Java, and sleeps. */
  async javaSleeps(name = this.name): Promise<void> {
    await this.listeners(1, name)
    await this.allSleep()
  }

  /** Resolves when the only waiter is in Node, and sleeps. A waiter of a fair lock in Node never sleeps for long. */
  async nodeSleeps(kind: Ours, name = this.name): Promise<void> {
    await this.nodeWaits(kind, name)
    if (kind === 'getLock') await this.allSleep()
  }

  /** Returns how often the server has run a command in this test, even inside scripts. */
  async calls(command: string): Promise<number> {
    const stats = await this.server.admin.info('commandstats')
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  }

  hash(name = this.name): Promise<Record<string, string>> {
    return this.server.admin.hgetall(name)
  }

  pttl(name = this.name): Promise<number> {
    return this.server.admin.pttl(name)
  }
}

function tagged(name: string): string {
  return name.includes('{') ? name : `{${name}}`
}

/** Call this at the top of the file. */
export function useStage(): Stage {
  const server = sharedServer()
  let stage: Stage | undefined
  beforeAll(async () => {
    stage = new Stage(server)
    await stage.setUp()
  })
  beforeEach(() => stage?.nextTest())
  return forward(() => {
    if (!stage) throw new Error('The stage is there in tests and hooks only')
    return stage
  })
}
