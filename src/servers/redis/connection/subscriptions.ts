import { CallFailure } from '../../call-failure.ts'
import type { Subscription } from '../../subscription.ts'
import { type Channel, ChannelListener } from './channel.ts'
import { ChannelSet } from './channel-set.ts'
import { watchSubscriber } from './cluster-nodes.ts'
import { Connection } from './connection.ts'
import type { RedisEvents } from './handshake.ts'
import { type ConnectionSettings, isCluster, type RedisClient } from './open-client.ts'
import type { Probe } from './probe.ts'

/** The interval at which the connection is tested while there are listeners, in milliseconds. */
const PING_MS = 5_000

/**
 * The mean pause before the client repeats an unconfirmed subscription, in milliseconds. The pauses
 * are random, so that many clients do not subscribe at once.
 */
const AGAIN_MS = 250

/** The largest number of channels in one SUBSCRIBE command. */
const CHUNK = 500

/**
 * Receives the messages of one server over one connection. All listeners of a channel share one
 * subscription.
 *
 * Messages, confirmed subscriptions and broken connections wake the listeners. So a waiter checks
 * again after messages that it may have missed.
 */
export class Subscriptions {
  readonly #connection: Connection
  readonly #timeoutMs: number
  readonly #channels = new ChannelSet()
  /**
   * The id of the server process that gets the commands. '' if unknown, or if the connection was
   * already replaced because of this id.
   */
  #server = ''
  #hasHandlers = false
  #closed = false
  #pings: NodeJS.Timeout | undefined
  /** The channels to which the login may not subscribe, since the last connect. */
  readonly #refused = new Set<string>()
  #again: NodeJS.Timeout | undefined

  /** @param watched wraps the events of the connection, so that other objects receive them too */
  constructor(
    settings: ConnectionSettings,
    probe: Probe,
    watched: (own: Partial<RedisEvents>) => RedisEvents,
  ) {
    this.#timeoutMs = settings.silenceMs
    const events = watched({
      up: () => {
        this.#refused.clear()
        if (!this.#follows()) this.#subscribe(this.#channels.names)
      },
      moved: () => this.#channels.wakeAll(),
      down: () => this.#channels.missed(() => true),
    })
    this.#connection = new Connection(settings, events, probe)
  }

  /**
   * @param isShardable true if publishers use a sharded channel in a cluster that has sharded
   * channels
   * @param onWake called with each message; a call without a message means that messages may have
   * been lost
   * @param isOptional true if locks also work without the channel
   */
  listen(
    name: string,
    isShardable: boolean,
    onWake: (message?: string) => void,
    isOptional = false,
  ): Subscription {
    if (this.#closed) return { confirmed: false, stop: () => {} }
    let channel = this.#channels.get(name)
    if (channel === undefined) {
      channel = this.#channels.add(name, isShardable, isOptional)
      this.#startListening()
      // A connection that is not up yet subscribes to all channels when it is up.
      if (this.#connection.up) this.#subscribe([name])
      else this.#connection.connect()
    }
    const listener = new ChannelListener(channel, onWake, this)
    // A message may have come before this listener was added, so the listener is woken once.
    if (channel.confirmed) queueMicrotask(() => listener.wake())
    return listener
  }

  /** Ends the subscription of a channel that has no listeners any more. */
  forget(channel: Channel): void {
    const { name } = channel
    if (!this.#channels.remove(channel) || !this.#connection.up) return
    const unsubscribe = (client: RedisClient) =>
      this.#isSharded(channel) ? client.sunsubscribe(name) : client.unsubscribe(name)
    this.#connection.call(this.#timeoutMs, unsubscribe).catch(() => {})
  }

  /**
   * Reconnects if the commands go, or may go, to another server process than this connection. Only
   * the process that runs the commands sends the messages of the locks and counts their listeners.
   *
   * @param runId the id of the process that runs the commands; '' if the server does not report an id
   */
  follow(runId: string): void {
    this.#server = runId
    if (this.#connection.up && (runId === '' || this.#connection.runId === '')) this.#reconnect()
    else this.#follows()
  }

  /** @returns true if the connection is replaced, because the commands go to another server */
  #follows(): boolean {
    const { up, clustered, runId } = this.#connection
    if (!up || clustered || this.#server === '' || runId === '' || runId === this.#server)
      return false
    // Replaces the connection only once, because a proxy may send each connection to another
    // server.
    this.#server = ''
    this.#reconnect()
    return true
  }

  #reconnect(): void {
    if (this.#connection.clustered) return
    this.#connection.reconnect(new CallFailure('unsent', 'the commands go to another server'))
  }

  stopListening(): void {
    this.#closed = true
    clearInterval(this.#pings)
    clearTimeout(this.#again)
    this.#connection.disconnect()
  }

  #startListening(): void {
    this.#pings ??= setInterval(() => this.#ping(), PING_MS).unref()
    if (this.#hasHandlers) return
    this.#hasHandlers = true
    const { client } = this.#connection
    client.on('message', (name: string, message: string) => this.#channels.wake(name, message))
    client.on('smessage', (name: string, message: string) => this.#channels.wake(name, message))
    // ioredis may replace its own connection to a shard. Messages may be lost meanwhile.
    client.on('-subscriber', () => this.#channels.missed((channel) => this.#isSharded(channel)))
    if (isCluster(client)) {
      watchSubscriber(client, () => {
        this.#channels.missed((channel) => !this.#isSharded(channel))
        if (this.#connection.up) this.#subscribe(this.#channels.unconfirmed)
      })
    }
    client.on('subscribersReady', () => {
      // Until the connection is up, it is unknown which channels are sharded. When the connection
      // is up, it subscribes to all channels.
      if (this.#connection.up) this.#subscribe(this.#channels.names)
    })
  }

  // Sends a PING. If no answer comes, the client tests the connection and may replace it. A
  // replacement wakes all listeners.
  #ping(): void {
    if (this.#channels.size === 0) {
      clearInterval(this.#pings)
      this.#pings = undefined
    } else if (this.#connection.up) {
      this.#connection.call(this.#timeoutMs, (client) => client.ping()).catch(() => {})
      // In a cluster, the PING does not test the connections that receive messages. So all
      // listeners check again.
      if (this.#connection.clustered) this.#channels.wakeAll()
    }
  }

  #isSharded(channel: Channel): boolean {
    return this.#connection.sharded && channel.isShardable
  }

  #subscribe(names: string[]): void {
    const channels = names.flatMap((name) => this.#channels.get(name) ?? [])
    const goesAlone = (one: Channel) => one.isOptional || this.#isSharded(one)
    const plain = channels.filter((one) => !goesAlone(one)).map(({ name }) => name)
    for (let from = 0; from < plain.length; from += CHUNK) {
      const some = plain.slice(from, from + CHUNK)
      this.#request(some, (client) => client.subscribe(...some))
    }
    for (const channel of channels.filter(goesAlone)) {
      this.#request([channel.name], (client) =>
        this.#isSharded(channel) ? client.ssubscribe(channel.name) : client.subscribe(channel.name),
      )
    }
  }

  #request(names: string[], subscribe: (client: RedisClient) => Promise<unknown>): void {
    const asked = names.flatMap((name) => this.#channels.get(name) ?? [])
    this.#connection
      .call(this.#timeoutMs, subscribe)
      .then(() => this.#channels.confirmed(asked))
      // A failure needs no wake-up, because listeners poll until the subscription is confirmed.
      .catch(({ kind, permanent }: CallFailure) => {
        // After a permanent refusal, the client does not repeat the subscription. Other failures
        // may pass soon.
        if (kind === 'refused' && permanent) for (const name of names) this.#refused.add(name)
        else if (kind === 'unknown' || kind === 'refused') this.#askAgain()
      })
  }

  #askAgain(): void {
    if (this.#closed) return
    this.#again ??= setTimeout(
      () => {
        this.#again = undefined
        const names = this.#channels.unconfirmed.filter((name) => !this.#refused.has(name))
        if (this.#connection.up) this.#subscribe(names)
      },
      AGAIN_MS * (0.5 + Math.random()),
    ).unref()
  }
}
