import { Backoff } from '../../availability/backoff.ts'
import { commandOf, type DueCall, DueCalls } from '../../availability/due-calls.ts'
import { Trouble } from '../../availability/trouble.ts'
import { UntilUp } from '../../availability/until-up.ts'
import { CallFailure } from '../../call-failure.ts'
import { connectionFailure, failureOf, isNotReady, isWrongServer, unsent } from './failure-of.ts'
import { type RedisEvents, readServerDetails } from './handshake.ts'
import { openAndConnect } from './open-and-connect.ts'
import {
  type ConnectionSettings,
  databaseOf,
  hasShards,
  isClient,
  isCluster,
  type RedisClient,
} from './open-client.ts'
import { Probe } from './probe.ts'

/**
 * One connection, with its own ioredis client. Connects at the first call, and reconnects until
 * `disconnect()`. The connection does not keep the process alive, but waiting calls do.
 */
export class Connection {
  readonly database: number
  readonly clustered: boolean
  readonly #settings: ConnectionSettings
  readonly #events: RedisEvents
  #client: RedisClient | undefined
  readonly #backoff = new Backoff()
  readonly trouble: Trouble
  readonly #due: DueCalls<RedisClient>
  readonly #probe: Probe
  #up = false
  #everUp = false
  /** True if the current attempt to connect has succeeded, or its failure was reported. */
  #isReported = false
  #sharded = false
  /** The number of connections that have closed or failed. A change shows that an attempt is over. */
  #attempt = 0
  #runId = ''
  #closed = false
  #lastError: CallFailure | undefined
  readonly #untilUp = new UntilUp()
  readonly known = this.#untilUp.known

  /** @param probe shared with other connections to the server */
  constructor(settings: ConnectionSettings, events: RedisEvents, probe = new Probe(settings)) {
    const { source, silenceMs } = settings
    this.database = databaseOf(source)
    this.clustered = isClient(source) && isCluster(source)
    this.#settings = settings
    this.#events = events
    this.#probe = probe
    const ping = () => this.call(silenceMs, (client) => client.ping()).catch(() => {})
    this.trouble = new Trouble(events, silenceMs, ping)
    this.#due = new DueCalls(silenceMs, this, failureOf)
  }

  get up(): boolean {
    return this.#up
  }

  /** Connects now. Without this call, the connection is opened at the first request. */
  connect(): void {
    void this.client
  }

  /** Why the connection is down; undefined if it is up, or if no attempt has failed yet. */
  get whyDown(): CallFailure | undefined {
    return this.#up ? undefined : this.#lastError
  }

  /** True if channels are sharded. Known after the first connect. */
  get sharded(): boolean {
    return this.#sharded
  }

  /** The id of the server's process; '' if the server does not report an id. */
  get runId(): string {
    return this.#runId
  }

  /** Sends the call when the connection is up. The call settles within `timeoutMs`. */
  send(call: DueCall<RedisClient>, timeoutMs: number): void {
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

  /** @returns the reply; rejects only with a {@link CallFailure} */
  call<T>(timeoutMs: number, send: (client: RedisClient) => Promise<T>): Promise<T> {
    return commandOf(send, (call) => this.send(call, timeoutMs))
  }

  /** True if the connection was ever up. If false, no request was ever sent. */
  get everUp(): boolean {
    return this.#everUp
  }

  get client(): RedisClient {
    this.#client ??= this.#open()
    return this.#client
  }

  disconnect(): void {
    this.#closed = true
    this.#up = false
    this.#backoff.stopTimer()
    this.trouble.stopTimer()
    this.#probe.forget(this)
    this.#client?.disconnect()
    this.#lastError = new CallFailure('closed', 'the client was closed')
    this.#untilUp.finish(this.#lastError)
  }

  /** Called if no answer came. Refreshes the slots of a cluster, or lets the probe test a silent connection. */
  suspect(client: RedisClient): void {
    if (isCluster(client)) client.refreshSlotsCache()
    else if (this.isSilent) this.#probe.suspect(this)
  }

  get isBusy(): boolean {
    return this.#up && this.#due.any
  }

  /** True if answers are due, and no answer has come for `silenceMs`. */
  get isSilent(): boolean {
    return this.#up && this.#due.silentMs >= this.#settings.silenceMs
  }

  /** Called for each refusal. Handles a server that is not ready, or is the wrong server. */
  refused(failure: CallFailure): void {
    if (isNotReady(failure)) this.trouble.notReady(failure)
    if (!isWrongServer(failure) || !this.#up) return // Acts only on the first refusal.
    // In a cluster, the node may be a replica. So the client asks for the slots again.
    if (this.clustered) this.suspect(this.client)
    else this.reconnect(failure)
  }

  /** Leaves the current connection and opens another connection. Does not interrupt an attempt to connect. */
  reconnect(why: CallFailure): void {
    if (why.kind === 'refused') this.#backoff.refused()
    if (!this.#up) return
    if (why.kind === 'refused') this.#events.error(why)
    this.#replace(this.client, why)
  }

  /** Opens another connection. Until it is up, calls that time out fail with `why` or a later failure. */
  #replace(client: RedisClient, why: CallFailure): void {
    if (!this.#closed) this.#lastError = why
    this.#down() // Nothing may be sent to a connection that is about to end.
    client.disconnect(true)
  }

  #whenUp(timeoutMs: number): Promise<void> {
    if (this.#lastError?.permanent) return Promise.reject(this.#lastError)
    this.#client ??= this.#open()
    return this.#untilUp.wait(timeoutMs, () => this.#lastError)
  }

  #open(): RedisClient {
    return openAndConnect(this.#settings, this.#events, {
      nextMs: () => this.#backoff.nextMs(),
      failed: (error) => this.#failed(error),
      ready: (client) => void this.#greet(client),
      closed: () => this.#attemptFailed(),
      ended: (connect) => {
        this.#isReported = false
        if (!this.#closed) this.#backoff.wait(connect)
      },
      moved: () => this.#up && this.#events.moved?.(),
    })
  }

  /** Checks the database, and reads the values that are needed before the first command. */
  async #greet(client: RedisClient): Promise<void> {
    const attempt = this.#attempt
    const { silenceMs, sharded, source } = this.#settings
    try {
      const submit = (call: DueCall<RedisClient>) => this.#due.send(client, call, silenceMs)
      const facts = await commandOf((to) => readServerDetails(to, source), submit)
      if (this.#closed || attempt !== this.#attempt) return
      // ioredis 5 is "ready" before the server has accepted or refused the login.
      if (this.#hasFailed) throw this.#lastError
      this.#sharded = sharded && facts.major >= 7 && hasShards(client)
      this.#runId = facts.runId
      this.#up = this.#everUp = this.#isReported = true
      this.#backoff.up()
      this.#lastError = undefined
      this.#events.up(facts)
      this.#untilUp.finish()
    } catch (error) {
      if (attempt !== this.#attempt) return // The connection has ended.
      // The first failure of an attempt causes the later failures.
      const failure = connectionFailure((this.#hasFailed && this.#lastError) || (error as Error))
      if (failure.kind !== 'unknown' && !this.#hasFailed) this.#failed(failure)
      if (client.status === 'ready') this.#replace(client, unsent(failure))
    }
  }

  /** True if the current attempt has failed, and the failure was reported. */
  get #hasFailed(): boolean {
    return this.#isReported && !this.#up && !this.clustered
  }

  #failed(error: Error): void {
    if (this.#closed) return
    const failure = connectionFailure(error)
    if (failure.kind === 'refused') this.#backoff.refused()
    this.#lastError = failure
    this.#isReported = true
    this.#untilUp.resolveKnown()
    if (!this.#up) this.#events.error(failure)
    if (failure.permanent) this.#untilUp.finish(failure)
  }

  /** Marks the connection as down. Reports a new failure, but not of a cluster, for which ioredis emits 'error'. */
  #attemptFailed(): void {
    this.#attempt += 1
    const isUnreported = !this.#isReported || (this.#up && this.#backoff.isFlapping)
    this.#down()
    if (isUnreported && !this.#closed && !this.clustered)
      this.#events.error(this.#lastError as CallFailure)
    this.#isReported = false
  }

  #down(): void {
    const wasUp = this.#up
    this.#up = false
    this.#due.forget()
    this.#lastError ??= new CallFailure('unsent', 'the server closed the connection')
    this.#untilUp.resolveKnown()
    if (wasUp) this.#events.down()
  }
}
