import { outsideFrames } from '../../../kit/frame-storage.ts'
import { CallFailure } from '../../call-failure.ts'
import { Backoff } from './backoff.ts'
import { commandOf, type DueCall, DueCalls } from './due-calls.ts'
import { connectionFailure, isNoNews, isWrongServer, unsent } from './failure-of.ts'
import { askFacts, type ServerFacts } from './handshake.ts'
import {
  type Client,
  type ConnectionSettings,
  connectionNameOf,
  databaseOf,
  hasShards,
  isClient,
  isCluster,
  openClient,
} from './open-client.ts'
import { tameClient, tameShards, tameSockets } from './sockets.ts'
import { UntilUp } from './until-up.ts'

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
  readonly database: number
  readonly clustered: boolean
  readonly #settings: ConnectionSettings
  readonly #events: ConnectionEvents
  #client: Client | undefined
  readonly #backoff = new Backoff()
  readonly #due: DueCalls
  #up = false
  #everUp = false
  /** Whether the attempt to connect came to something, or was told of. */
  #told = false
  #sharded = false
  #runId = ''
  #closed = false
  #lastError: CallFailure | undefined
  #again: NodeJS.Timeout | undefined
  readonly #untilUp = new UntilUp()
  /** Resolves when it has connected for the first time, or failed to. */
  readonly known: Promise<void>
  #tellKnown!: () => void

  constructor(settings: ConnectionSettings, events: ConnectionEvents) {
    const { source } = settings
    this.#settings = settings
    this.database = databaseOf(source)
    this.clustered = isClient(source) && isCluster(source)
    const silent = (client: Client) => this.#leaveIfSilent(client)
    this.#due = new DueCalls(settings.silenceMs, silent, (failure) => this.heard(failure))
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

  /** Why it is down; undefined when it is up, or nothing is known. */
  get whyDown(): CallFailure | undefined {
    return this.#up ? undefined : this.#lastError
  }

  /** Whether channels are sharded, once it has been up. */
  get sharded(): boolean {
    return this.#sharded
  }

  /** The id of the server's process; '' when it does not tell. */
  get runId(): string {
    return this.#runId
  }

  /** Sends it when the connection is up; it has its answer, or its failure, in `timeoutMs` at most. */
  send(call: DueCall, timeoutMs: number): void {
    if (this.#up) {
      this.#due.send(this.client, call, timeoutMs)
      return
    }
    const endsAt = performance.now() + timeoutMs
    this.#whenUp(timeoutMs).then(
      () => this.#due.send(this.client, call, Math.max(1, endsAt - performance.now())),
      (failure: CallFailure) => call.failed(failure),
    )
  }

  /** @returns the reply; rejects with a {@link CallFailure} and nothing else */
  call<T>(timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    return commandOf(send, (call) => this.send(call, timeoutMs))
  }

  /** Whether anything can have been sent at all. */
  get everUp(): boolean {
    return this.#everUp
  }

  /** Whether answers are due. */
  get isBusy(): boolean {
    return this.#up && this.#due.any
  }

  /** For events of the client itself: messages. */
  get client(): Client {
    this.#client ??= this.#open()
    return this.#client
  }

  close(): void {
    this.#closed = true
    this.#up = false
    clearTimeout(this.#again)
    this.#client?.disconnect()
    this.#lastError = new CallFailure('closed', 'the client was closed')
    this.#tellKnown()
    this.#untilUp.over(this.#lastError)
  }

  /** A connection that has been silent for too long is dead without saying so. */
  #leaveIfSilent(client: Client): void {
    const { silenceMs } = this.#settings
    // Once, however many calls have waited in vain: leaving it ends the silence.
    if (isCluster(client) || this.#due.silentMs < silenceMs) return
    this.#leave(client, new CallFailure('unsent', `no answer within ${silenceMs} ms`))
  }

  /** A script was refused by a server that is not, or no more, the one to talk to. */
  heard(failure: CallFailure): void {
    if (!isWrongServer(failure) || !this.#up || this.clustered) return // Once, however many hear it.
    this.#backoff.refused()
    this.leave(failure)
  }

  /** Gives up the connection that is up, for another one. */
  leave(why: CallFailure): void {
    if (this.#up) this.#leave(this.client, why)
  }

  /** Ends the connection, for another one to be opened; calls that wait for that one hear why. */
  #leave(client: Client, why: CallFailure): void {
    if (!this.#closed) this.#lastError = why
    this.#down() // Nothing is sent any more to what is about to end.
    client.disconnect(true)
  }

  #whenUp(timeoutMs: number): Promise<void> {
    if (this.#lastError?.permanent) return Promise.reject(this.#lastError)
    this.#client ??= this.#open()
    return this.#untilUp.wait(timeoutMs, () => this.#lastError)
  }

  #open(): Client {
    const client = openClient(this.#settings, () => this.#backoff.nextMs())
    client.on('error', (error: Error) => {
      if (!isNoNews(error)) this.#failed(error)
    })
    client.on('ready', () => void this.#greet(client))
    client.on('close', () => this.#ended())
    client.on('end', () => this.#startAgain(client))
    if (isCluster(client)) {
      client.on('+node', tameSockets)
      client.on('+subscriber', () => tameShards(client))
    } else {
      tameClient(client)
    }
    outsideFrames(() => client.connect()).catch(() => {}) // Reported by the 'error' event.
    return client
  }

  /** Where ioredis gives up: when no Sentinel answers, or the address is of no use. */
  #startAgain(client: Client): void {
    const connect = () => void client.connect().catch(() => {})
    this.#told = false
    if (!this.#closed) this.#again = setTimeout(connect, this.#backoff.nextMs()).unref()
  }

  /** Makes sure of the database, and learns what must be known before the first command. */
  async #greet(client: Client): Promise<void> {
    try {
      const { silenceMs, source, sharded } = this.#settings
      const ask = () => askFacts(client, this.database)
      const facts = await commandOf(ask, (call) => this.#due.send(client, call, silenceMs))
      if (this.#closed) return
      // ioredis 5 is "ready" before its login is answered, which may have been refused.
      if (this.#hasFailed) throw this.#lastError
      const name = connectionNameOf(source)
      if (name !== undefined) client.client('SETNAME', name).catch(() => {}) // As ioredis does.
      this.#sharded = sharded && facts.major >= 7 && hasShards(client)
      this.#runId = facts.runId
      this.#up = this.#everUp = this.#told = true
      this.#backoff.up()
      this.#lastError = undefined
      this.#tellKnown()
      this.#events.up(facts)
      this.#untilUp.over()
    } catch (error) {
      // What failed first is the cause.
      const failure = connectionFailure((this.#hasFailed && this.#lastError) || (error as Error))
      if (failure.kind !== 'unknown' && !this.#hasFailed) this.#failed(failure)
      if (client.status === 'ready') this.#leave(client, unsent(failure))
    }
  }

  /** Whether the attempt that is under way has failed, and that was told. */
  get #hasFailed(): boolean {
    return this.#told && !this.#up && !this.clustered
  }

  #failed(error: Error): void {
    if (this.#closed) return
    const failure = connectionFailure(error)
    if (failure.kind === 'refused') this.#backoff.refused()
    this.#lastError = failure
    this.#told = true
    this.#tellKnown()
    this.#events.error(failure.message === error.message ? error : failure)
    if (failure.permanent) this.#untilUp.over(failure)
  }

  /** Whatever ended an attempt, it is told; a cluster tells by itself when there is no node left. */
  #ended(): void {
    this.#down()
    const tells = !this.#told && !this.#closed && !this.clustered
    if (tells) this.#events.error(this.#lastError as CallFailure)
    this.#told = false
  }

  #down(): void {
    const wasUp = this.#up
    this.#up = false
    this.#due.forget()
    this.#lastError ??= new CallFailure('unsent', 'the server closed the connection')
    this.#tellKnown()
    if (wasUp) this.#events.down()
  }
}
