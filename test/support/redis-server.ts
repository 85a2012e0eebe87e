import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { allow, openSocket } from './allowances.ts'
import { forward } from './forward.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'
import {
  isRunning,
  killProcess,
  newServerFolder,
  PortTakenError,
  type Program,
  type ServerConfig,
  spawnServer,
} from './server-process.ts'

export interface StartOptions {
  /** Settings of redis.conf, such as `{ requirepass: 'secret', maxmemory: '2mb' }`. */
  config?: ServerConfig
  /** A fixed port. Without it, a free port is picked. */
  port?: number
  /** The program to start instead of the server that the tests have found. */
  program?: Program
}

/** The members of a server that the leak check uses. */
export type WatchedServer = Pick<RedisServer, 'running' | 'paused' | 'resume' | 'flushes' | 'admin'>

/** The servers that run now, for the leak check. */
export const runningServers: ReadonlySet<WatchedServer> = new Set()

/** A native Redis or Valkey server on its own loopback port, without persistence. */
export class RedisServer {
  readonly port: number
  readonly config: ServerConfig
  readonly #program: Program | undefined
  readonly #dir: string
  #child: ChildProcess
  #paused = false
  #flushes = 0
  #admin: Redis | undefined
  #withdraw: () => void = () => undefined

  constructor(
    child: ChildProcess,
    port: number,
    dir: string,
    config: ServerConfig,
    program?: Program,
  ) {
    this.#program = program
    this.#child = child
    this.port = port
    this.#dir = dir
    this.config = config
  }

  get host(): string {
    return '127.0.0.1'
  }

  get password(): string | undefined {
    const { requirepass } = this.config
    return requirepass === undefined ? undefined : String(requirepass)
  }

  get url(): string {
    const login = this.password === undefined ? '' : `:${encodeURIComponent(this.password)}@`
    return `redis://${login}${this.host}:${this.port}`
  }

  /** The folder with the files of the server. */
  get folder(): string {
    return this.#dir
  }

  /** The process id of the running server, or of the server that ran last. */
  get pid(): number {
    return this.#child.pid ?? -1
  }

  get running(): boolean {
    return isRunning(this.#child)
  }

  get paused(): boolean {
    return this.#paused
  }

  /** How often `flush` was called. */
  get flushes(): number {
    return this.#flushes
  }

  /** A client for the test itself, to inspect keys. The first use opens it, and `stop` closes it. */
  get admin(): Redis {
    this.#admin ??= this.#openAdmin()
    return this.#admin
  }

  async flush(): Promise<void> {
    await this.admin.flushall()
    this.#flushes++
  }

  /** Kills the server with SIGKILL. Connections break and all data is lost. `restart` starts the server again. */
  async kill(): Promise<void> {
    await killProcess(this.#child)
    this.#paused = false
  }

  /** Kills the server and starts it again on the same port: no keys, no scripts, another run id. */
  async restart(): Promise<void> {
    await this.kill()
    this.#child = await spawnOnPort(this.port, this.#dir, this.config, this.#program)
  }

  /** Stops the process with SIGSTOP. The server then accepts connections but does not answer. */
  pause(): void {
    this.#paused = this.#child.kill('SIGSTOP')
  }

  /** Continues the process with SIGCONT. The server then answers all requests that have arrived. */
  resume(): void {
    this.#child.kill('SIGCONT')
    this.#paused = false
  }

  /** Makes the server answer again, in whatever state a test left the server. */
  async revive(): Promise<void> {
    if (!this.running) await this.restart()
    else if (this.#paused) this.resume()
  }

  /** Ends the server forever. Runs at the end of the test or file that started the server. */
  async stop(): Promise<void> {
    ;(runningServers as Set<WatchedServer>).delete(this)
    await this.#closeAdmin()
    this.#withdraw()
    await this.kill()
    await rm(this.#dir, { recursive: true, force: true })
  }

  /** Waits for the end of the connection. Otherwise ioredis would keep the process alive for 2 s more. */
  async #closeAdmin(): Promise<void> {
    const admin = this.#admin
    if (admin?.status !== 'ready') {
      admin?.disconnect()
      return
    }
    if (this.#paused) this.resume()
    const ended = new Promise<void>((resolve) => admin.once('end', () => resolve()))
    admin.disconnect()
    await ended
  }

  #openAdmin(): Redis {
    const admin = new Redis({
      host: this.host,
      port: this.port,
      ...(this.password === undefined ? {} : { password: this.password }),
      retryStrategy: () => 20,
      maxRetriesPerRequest: 250,
      // If ioredis disconnects while it has no connection, a timer keeps the worker of Jest alive for this time.
      disconnectTimeout: 100,
    })
    admin.on('error', () => undefined)
    const withdrawals = [
      allow('TCPSocketWrap', () =>
        openSocket((admin as { stream?: { destroyed: boolean } }).stream),
      ),
      allow('Timeout', () => (admin.status === 'reconnecting' ? 1 : 0)),
    ]
    this.#withdraw = () => {
      for (const withdraw of withdrawals) withdraw()
    }
    return admin
  }
}

/** Starts a server. It ends with the running test, or with the file if no test runs. */
export async function startRedis({
  config = {},
  port,
  program,
}: StartOptions = {}): Promise<RedisServer> {
  const dir = newServerFolder()
  const [child, boundPort] = port
    ? [await spawnOnPort(port, dir, config, program), port]
    : await spawnOnFreePort(dir, config, program)
  const server = new RedisServer(child, boundPort, dir, config, program)
  ;(runningServers as Set<WatchedServer>).add(server)
  atEnd(() => server.stop())
  return server
}

let shared: RedisServer | undefined

/**
 * The server that all tests of this file share. Before each test, it answers and is empty. Call this function at the
 * top of a file or of a `describe`. Use its result only in tests and hooks.
 */
export function sharedServer(): RedisServer {
  beforeAll(async () => {
    shared ??= await startRedis()
  })
  beforeEach(async () => {
    await shared?.revive()
    await shared?.flush()
  })
  return forward(() => {
    if (!shared) throw new Error('The shared server runs in tests and hooks only')
    return shared
  })
}

async function spawnOnFreePort(
  dir: string,
  config: ServerConfig,
  program: Program | undefined,
): Promise<[ChildProcess, number]> {
  for (;;) {
    const port = await freePort()
    try {
      return [await spawnServer(port, dir, config, program), port]
    } catch (error) {
      if (!(error instanceof PortTakenError)) throw error
    }
  }
}

/** Tries for a while, because another process may test for a moment whether the former port of this server is free. */
async function spawnOnPort(
  port: number,
  dir: string,
  config: ServerConfig,
  program: Program | undefined,
): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await spawnServer(port, dir, config, program)
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === 20) throw error
      await pause(50)
    }
  }
}
