import { type Child, startProgram } from '../../support/children.ts'

/** An exception of Redisson, by the name of its class. */
export class JavaError extends Error {
  readonly type: string

  constructor(type: string, message: string) {
    super(`${type}: ${message}`)
    this.name = 'JavaError'
    this.type = type
  }
}

/** The kinds of locks that Redisson has. */
export type Kind =
  | 'RLock'
  | 'RFencedLock'
  | 'RFairLock'
  | 'RSpinLock'
  | 'RReadWriteLock.readLock'
  | 'RReadWriteLock.writeLock'
  | 'RMultiLock'
  | 'RedissonRedLock'

export interface ClientSettings {
  port: number
  /** `lockWatchdogTimeout`, in milliseconds. */
  watchdogMs?: number
  /** The prefix that its NameMapper puts before every name. */
  prefix?: string
  /** Connects in cluster mode, with this `shardedSubscriptionMode`. */
  sharded?: 'AUTO' | 'ON' | 'OFF'
  /** `subscriptionConnectionPoolSize`, with one subscription for each of them. */
  subscriptions?: number
}

/** How often the listeners of a lock were called. */
interface Heard {
  (): Promise<{ deleted: number; expired: number }>
  /** Removes the listeners. */
  end(): Promise<void>
}

interface Answer {
  id: number
  ok?: unknown
  error?: { type: string; message: string }
  ns: [started: number, ended: number]
}

interface Pending {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** A JVM with the Redisson release under test. The Java side is in test/interop/java. */
export class Java {
  readonly #child: Child
  readonly #pending = new Map<number, Pending>()
  #requests = 0
  #clients = 0

  constructor(child: Child) {
    this.#child = child
    child.onMessage = (message) => {
      const answer = message as Answer
      this.#pending.get(answer.id)?.resolve(answer)
      this.#pending.delete(answer.id)
    }
    void child.exited.then(() => {
      for (const { reject } of this.#pending.values()) {
        reject(new Error(`The JVM has ended. It said: ${child.errors || 'nothing'}`))
      }
    })
  }

  /** The log so far. */
  get log(): string {
    return this.#child.errors
  }

  /** Opens a Redisson client, which ends with the JVM. */
  async client(settings: ClientSettings): Promise<JavaClient> {
    const name = `client-${++this.#clients}`
    const uuid = await this.ask<string>('open', { ...settings, client: name, thread: name })
    return new JavaClient(this, name, uuid)
  }

  /** Kills the JVM with SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }

  async ask<T>(op: string, request: object = {}): Promise<T> {
    return (await this.timed<T>(op, request)).value
  }

  /**
   * Returns the result, and when Java started and ended the request. Times are in milliseconds of the clock of
   * `hrtime`.
   */
  async timed<T>(op: string, request: object): Promise<{ value: T; from: number; to: number }> {
    const id = ++this.#requests
    const answered = new Promise<Answer>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
    })
    this.#child.send({ id, op, ...request })
    const { ok, error, ns } = await answered
    if (error !== undefined) throw new JavaError(error.type, error.message)
    return { value: ok as T, from: ns[0] / 1e6, to: ns[1] / 1e6 }
  }
}

export class JavaClient {
  readonly name: string
  /** The first part of the names of the owners of this client. */
  readonly uuid: string
  readonly java: Java

  constructor(java: Java, name: string, uuid: string) {
    this.java = java
    this.name = name
    this.uuid = uuid
  }

  /** Returns the owner name of a thread in this client. */
  async ownerOn(thread: string): Promise<string> {
    return `${this.uuid}:${await this.java.ask<number>('threadId', { thread })}`
  }

  /** The hash of a lock as Java reads it, with `getMap(name).readAllMap()`. */
  fields(name: string): Promise<Record<string, string>> {
    return this.java.ask('fields', { client: this.name, names: [name] })
  }

  /**
   * Threads count in two files under the write lock, and other threads compare the files under the read lock. Returns
   * the number of writes, and how often the files differed.
   */
  pairs(
    name: string,
    threads: { files: readonly string[]; writers: number; readers: number; rounds: number },
  ): Promise<[written: number, torn: number]> {
    return this.java.ask('pairs', { client: this.name, names: [name], thread: name, ...threads })
  }

  /** Adds a `DeletedObjectListener` and an `ExpiredObjectListener` to the RLock with this name. */
  async listen(name: string): Promise<Heard> {
    const target = { client: this.name, names: [name], thread: `${name} listens` }
    await this.java.ask('listen', target)
    const counts = () => this.java.ask<{ deleted: number; expired: number }>('heard', target)
    return Object.assign(counts, { end: () => this.java.ask<void>('unlisten', target) })
  }

  /** Calls `shutdown()`. Held locks stay held. */
  shutdown(): Promise<void> {
    return this.java.ask('shutdown', { client: this.name })
  }
}

/** A lock of Redisson, used by one thread. It has the same methods, with times in milliseconds. */
export class JavaLock {
  readonly #java: Java
  readonly #target: object

  /**
   * @param clients several clients for a RedissonRedLock, or for an RMultiLock over several servers
   * @param object the word under which Java keeps the lock object; without it, each request makes a new object
   */
  constructor(
    clients: readonly JavaClient[],
    kind: Kind,
    names: readonly string[],
    thread: string,
    object?: string,
  ) {
    this.#java = (clients[0] as JavaClient).java
    const client = clients.map(({ name }) => name).join(',')
    this.#target = { client, kind, names, thread, object }
  }

  lock(leaseMs?: number): Promise<void> {
    return this.#ask('lock', { leaseMs })
  }

  /** The wait must leave time to subscribe, because a subscription can outlive a shorter wait. */
  tryLock(waitMs?: number, leaseMs?: number): Promise<boolean> {
    return this.#ask('tryLock', { waitMs, leaseMs })
  }

  unlock(): Promise<void> {
    return this.#ask('unlock')
  }

  forceUnlock(): Promise<boolean> {
    return this.#ask('forceUnlock')
  }

  isLocked(): Promise<boolean> {
    return this.#ask('isLocked')
  }

  isHeldByCurrentThread(): Promise<boolean> {
    return this.#ask('isHeldByCurrentThread')
  }

  getHoldCount(): Promise<number> {
    return this.#ask('getHoldCount')
  }

  remainTimeToLive(): Promise<number> {
    return this.#ask('remainTimeToLive')
  }

  lockAndGetToken(): Promise<number> {
    return this.#ask('lockAndGetToken')
  }

  tryLockAndGetToken(waitMs?: number, leaseMs?: number): Promise<number | null> {
    return this.#ask('tryLockAndGetToken', { waitMs, leaseMs })
  }

  getToken(): Promise<number> {
    return this.#ask('getToken')
  }

  /** This number of threads counts in a file, each thread `rounds` times, under this lock. */
  count(file: string, workers: number, rounds: number): Promise<number[]> {
    return this.#ask('count', { file, workers, rounds })
  }

  #ask<T>(op: string, request: object = {}): Promise<T> {
    return this.#java.ask(op, { ...this.#target, ...request })
  }
}

/** A count-down latch of Redisson, used by one thread. */
export class JavaLatch {
  readonly #java: Java
  readonly #target: object

  constructor(client: JavaClient, name: string, thread: string) {
    this.#java = client.java
    this.#target = { client: client.name, names: [name], thread }
  }

  trySetCount(count: number): Promise<boolean> {
    return this.#ask('trySetCount', { count })
  }

  countDown(): Promise<void> {
    return this.#ask('countDown')
  }

  getCount(): Promise<number> {
    return this.#ask('getCount')
  }

  await(waitMs?: number): Promise<boolean> {
    return this.#ask('await', { waitMs })
  }

  delete(): Promise<boolean> {
    return this.#ask('deleteLatch')
  }

  #ask<T>(op: string, request: object = {}): Promise<T> {
    return this.#java.ask(op, { ...this.#target, ...request })
  }
}

/** Starts the JVM. It ends with the running test, or with the file if no test runs. */
export function startJava(): Java {
  const classPath = process.env.HOLDFAST_REDISSON_CLASSPATH
  if (classPath === undefined) throw new Error('Run these tests with `npm run test:interop`')
  // For a quick start and little memory: these tests run two JVMs beside servers on small machines.
  const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-Xmx256m']
  const log = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
  const args = [...flags, log, '-cp', classPath, 'holdfast.interop.Main']
  return new Java(startProgram('java', { args, env: { JAVA_TOOL_OPTIONS: '' } }))
}
