import { outsideFrames } from '../frame-storage.ts'
import { CallFailure, connectionFailure, failureOf } from './failure.ts'
import { askFacts, type ServerFacts } from './greeting.ts'
import {
  type Client,
  type ConnectionSettings,
  connectionNameOf,
  databaseOf,
  hasShards,
  isClient,
  isCluster,
  openClient,
} from './open.ts'
import { tameShards, tameSockets } from './sockets.ts'

interface ConnectionEvents {
  up(facts: ServerFacts): void
  down(): void
  error(error: Error): void
}

/**
 * One ioredis client of our own. It connects at the first call, reconnects for ever, and never
 * keeps the process alive by itself: that is up to the timers of whoever waits.
 */
export class Connection {
  readonly #settings: ConnectionSettings
  readonly #events: ConnectionEvents
  #client: Client | undefined
  #up = false
  /** Since when answers are due and none has come, on `performance.now()`. */
  #silentSince: number | undefined
  #everUp = false
  #sharded = false
  #runId = ''
  #closed = false
  #lastError: CallFailure | undefined
  /** How many answers are due. */
  #due = 0
  readonly #waiting = new Set<(failure?: CallFailure) => void>()
  /** Resolves when it has connected for the first time, or failed to. */
  readonly known: Promise<void>
  #tellKnown!: () => void

  constructor(settings: ConnectionSettings, events: ConnectionEvents) {
    this.#settings = settings
    this.#events = events
    this.known = new Promise((resolve) => {
      this.#tellKnown = resolve
    })
  }

  get up(): boolean {
    return this.#up
  }

  /** Connects now and not at the first call. Failures are told by the `error` event. */
  connect(): void {
    this.#client ??= this.#open()
  }

  /** Why the connection is down; undefined when it is up, or nothing is known. */
  get whyDown(): CallFailure | undefined {
    return this.#up ? undefined : this.#lastError
  }

  /** Whether channels are sharded; known once it has been up. */
  get sharded(): boolean {
    return this.#sharded
  }

  /** The id of the server's process; '' when it does not tell. */
  get runId(): string {
    return this.#runId
  }

  get database(): number {
    return databaseOf(this.#settings.source)
  }

  get clustered(): boolean {
    const { source } = this.#settings
    return isClient(source) && isCluster(source)
  }

  /**
   * Sends a command when the connection is up, and waits at most `timeoutMs` for all of it.
   *
   * @returns the reply; rejects with a {@link CallFailure} and nothing else
   */
  call<T>(timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    if (this.#up) return this.#send(timeoutMs, send)
    const start = performance.now()
    return this.#whenUp(timeoutMs).then(() =>
      this.#send(Math.max(1, timeoutMs - (performance.now() - start)), send),
    )
  }

  /** Whether anything can have been sent at all. */
  get everUp(): boolean {
    return this.#everUp
  }

  /** Whether answers are due. */
  get isBusy(): boolean {
    return this.#up && this.#due > 0
  }

  /** For events of the client itself: messages. */
  get client(): Client {
    this.#client ??= this.#open()
    return this.#client
  }

  close(): void {
    this.#closed = true
    this.#up = false
    this.#client?.disconnect()
    this.#lastError = new CallFailure('closed', 'the client was closed')
    this.#tellKnown()
    this.#fail(this.#lastError)
  }

  #send<T>(timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    const { client } = this
    this.#silentSince ??= performance.now()
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(new CallFailure('unknown', `no answer within ${Math.round(timeoutMs)} ms`))
        // What makes up for the lost answer may still get through where the request did.
        setImmediate(() => this.#leaveIfSilent(client))
      }
      // Not unref'ed: it keeps the process alive while an answer is due. After a blocked event loop
      // the answer may have arrived and not been read yet: that has its turn first.
      const timer = setTimeout(setImmediate, timeoutMs, giveUp)
      this.#due += 1
      send(client).then(
        (reply) => {
          this.#answered(timer)
          resolve(reply)
        },
        (error: unknown) => {
          this.#answered(timer)
          reject(failureOf(error))
        },
      )
    })
  }

  #answered(timer: NodeJS.Timeout): void {
    if (this.#due > 0) this.#due -= 1
    clearTimeout(timer)
    this.#silentSince = undefined
  }

  /** A connection that has been silent for too long is dead without saying so. */
  #leaveIfSilent(client: Client): void {
    if (this.#silentSince === undefined || isCluster(client)) return
    if (performance.now() - this.#silentSince < this.#settings.silenceMs) return
    this.#silentSince = undefined // Once, however many calls have waited in vain.
    this.#leave(
      client,
      new CallFailure('unsent', `no answer within ${this.#settings.silenceMs} ms`),
    )
  }

  /** Ends the connection, for another one to be opened; calls that wait for that one hear why. */
  #leave(client: Client, why: CallFailure): void {
    if (!this.#closed) this.#lastError = why
    client.disconnect(true)
  }

  #whenUp(timeoutMs: number): Promise<void> {
    if (this.#closed) return Promise.reject(new CallFailure('closed', 'the client was closed'))
    if (this.#lastError?.permanent) return Promise.reject(this.#lastError)
    this.#client ??= this.#open()
    return new Promise((resolve, reject) => {
      const done = (failure?: CallFailure) => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        if (failure === undefined) resolve()
        else reject(failure)
      }
      const timer = setTimeout(() => {
        const last = this.#lastError
        const why = last?.message ?? `not connected within ${Math.round(timeoutMs)} ms`
        done(last?.kind === 'refused' ? last : new CallFailure('unsent', why, last))
      }, timeoutMs)
      this.#waiting.add(done)
    })
  }

  #open(): Client {
    const client = openClient(this.#settings)
    client.on('error', (error: Error) => this.#failed(error))
    client.on('ready', () => void this.#greet(client))
    client.on('close', () => this.#down())
    if (isCluster(client)) {
      client.on('+node', tameSockets)
      client.on('+subscriber', () => tameShards(client))
    } else {
      tameSockets(client)
    }
    outsideFrames(() => client.connect()).catch(() => {}) // Reported by the 'error' event.
    return client
  }

  /** Learns what must be known before the first command: the server's age and its clock. */
  async #greet(client: Client): Promise<void> {
    try {
      const facts = await this.#send(this.#settings.silenceMs, () => askFacts(client))
      const name = connectionNameOf(this.#settings.source)
      if (name !== undefined) client.client('SETNAME', name).catch(() => {}) // As ioredis does.
      this.#sharded = this.#settings.sharded && facts.major >= 7 && hasShards(client)
      this.#runId = facts.runId
      this.#up = true
      this.#everUp = true
      this.#lastError = undefined
      this.#tellKnown()
      this.#events.up(facts)
      for (const done of [...this.#waiting]) done()
    } catch (error) {
      const failure = failureOf(error)
      if (failure.kind === 'refused' || failure.kind === 'unsupported') this.#failed(failure)
      if (client.status === 'ready') this.#leave(client, failure)
    }
  }

  #failed(error: Error): void {
    const failure = error instanceof CallFailure ? error : connectionFailure(error)
    this.#lastError = failure
    this.#tellKnown()
    this.#events.error(error)
    if (failure.permanent) this.#fail(failure)
  }

  #down(): void {
    const wasUp = this.#up
    this.#up = false
    this.#due = 0 // Some of them ioredis may never settle.
    this.#silentSince = undefined
    this.#lastError ??= new CallFailure('unsent', 'the server closed the connection')
    this.#tellKnown()
    if (wasUp) this.#events.down()
  }

  #fail(failure: CallFailure): void {
    for (const done of [...this.#waiting]) done(failure)
  }
}
