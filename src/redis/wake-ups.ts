import { Connection } from './connection.ts'
import type { RedisSource } from './open.ts'

/** Somebody who listens to a channel until `stop()`. */
export interface Listening {
  /** Whether the server has confirmed it: from then on no message is missed. */
  readonly confirmed: boolean
  stop(): void
}

interface Channel {
  confirmed: boolean
  readonly listeners: Set<(message?: string) => void>
}

/** While anybody listens the connection is tried this often, in milliseconds. */
const PING_MS = 5_000

/** SUBSCRIBE takes many channels; this many at a time after a reconnect. */
const CHUNK = 500

/**
 * The messages of one server: one connection, one subscription for each channel however many
 * listen, none when nobody does. A wake-up is a hint to look again, and comes with a message,
 * when a subscription is confirmed, and when the connection breaks: a gap is never slept through.
 */
export class WakeUps {
  readonly #connection: Connection
  readonly #timeoutMs: number
  readonly #channels = new Map<string, Channel>()
  #hears = false
  #pings: NodeJS.Timeout | undefined

  constructor(source: RedisSource, timeoutMs: number, onError: (error: Error) => void) {
    this.#timeoutMs = timeoutMs
    this.#connection = new Connection(source, timeoutMs, {
      up: () => this.#subscribe([...this.#channels.keys()]),
      down: () => this.#wakeAll(),
      error: onError,
    })
  }

  listen(name: string, onWake: (message?: string) => void): Listening {
    let channel = this.#channels.get(name)
    if (channel === undefined) {
      channel = { confirmed: false, listeners: new Set() }
      this.#channels.set(name, channel)
      this.#hear()
      // A connection that is not up yet subscribes to all channels when it is.
      if (this.#connection.up) this.#subscribe([name])
      else this.#connection.connect()
    }
    channel.listeners.add(onWake)
    const { listeners } = channel
    return {
      get confirmed() {
        return channel.confirmed
      },
      stop: () => {
        listeners.delete(onWake)
        if (listeners.size === 0) this.#forget(name, channel)
      },
    }
  }

  close(): void {
    clearInterval(this.#pings)
    this.#connection.close()
  }

  #hear(): void {
    this.#pings ??= setInterval(() => this.#ping(), PING_MS).unref()
    if (this.#hears) return
    this.#hears = true
    this.#connection.client.on('message', (name: string, message: string) =>
      this.#wake(name, message),
    )
  }

  // A dead connection answers nothing: its socket is given up, and the reconnect wakes everybody.
  #ping(): void {
    if (this.#channels.size === 0) {
      clearInterval(this.#pings)
      this.#pings = undefined
    } else if (this.#connection.up) {
      this.#connection.call(this.#timeoutMs, (client) => client.ping()).catch(() => {})
    }
  }

  #subscribe(names: string[]): void {
    for (let from = 0; from < names.length; from += CHUNK) {
      const some = names.slice(from, from + CHUNK)
      const asked = some.map((name) => this.#channels.get(name))
      this.#connection
        .call(this.#timeoutMs, (client) => client.subscribe(...some))
        .then(() => {
          for (const channel of asked) {
            if (channel === undefined) continue
            channel.confirmed = true
            for (const onWake of [...channel.listeners]) onWake()
          }
        })
        // Whoever listens polls until the connection is up again, which subscribes once more.
        .catch(() => {})
    }
  }

  #forget(name: string, channel: Channel): void {
    if (this.#channels.get(name) !== channel) return
    this.#channels.delete(name)
    if (!this.#connection.up) return
    this.#connection.call(this.#timeoutMs, (client) => client.unsubscribe(name)).catch(() => {})
  }

  #wake(name: string, message?: string): void {
    for (const onWake of [...(this.#channels.get(name)?.listeners ?? [])]) onWake(message)
  }

  #wakeAll(): void {
    for (const [name, channel] of this.#channels) {
      channel.confirmed = false
      this.#wake(name)
    }
  }
}
