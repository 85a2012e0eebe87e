import { type CallFailure, NoAnswer } from '../../call-failure.ts'
import { failureOf } from './failure-of.ts'
import { type ConnectionSettings, openClient, type RedisClient } from './open-client.ts'
import { prepareClient } from './prepare-client.ts'

/** A connection whose answers are due. */
interface SilentConnection {
  readonly isSilent: boolean
  readonly trouble: { silent(): void }
  reconnect(why: CallFailure): void
}

/**
 * The longest time that a probe has for its answer, in milliseconds, unless `silenceMs` is longer.
 * A random factor changes the time by up to a quarter.
 */
const LONGEST_MS = 4_000

/**
 * The pause between two probes, in milliseconds. A socket keeps the process alive while it
 * connects, and for up to 100 ms at its end. So only a longer pause lets a finished program exit.
 */
const PAUSE_MS = 150

/**
 * Finds out if silent connections are dead, or if their server is slow. A slow server does not
 * answer a new connection either. So the client replaces silent connections only if a new
 * connection gets an answer.
 *
 * Otherwise all clients of a slow server would reconnect at once.
 */
export class Probe {
  readonly #settings: ConnectionSettings
  readonly #suspects = new Set<SilentConnection>()
  #client: RedisClient | undefined
  #timer: NodeJS.Timeout | undefined
  #waitMs = 0

  constructor(settings: ConnectionSettings) {
    this.#settings = settings
  }

  suspect(connection: SilentConnection): void {
    connection.trouble.silent()
    this.#suspects.add(connection)
    if (this.#timer !== undefined) return
    this.#waitMs = this.#settings.silenceMs
    this.#open()
  }

  /** Removes a closed connection from the suspects. Without suspects, ends the probe. */
  forget(connection: SilentConnection): void {
    this.#suspects.delete(connection)
    if (this.#suspects.size === 0) this.#finish()
  }

  #open(): void {
    const client = openClient(this.#settings, () => null)
    this.#client = client
    client.on('error', () => {})
    prepareClient(client)
    client.once('ready', () => {
      const ping = client.ping().catch((error: unknown) => {
        // A refusal is an answer too.
        if (failureOf(error).kind !== 'refused') throw error
      })
      ping.then(() => this.#onAnswer(client)).catch(() => {})
    })
    client.connect().catch(() => {})
    const ms = this.#waitMs * (0.75 + Math.random() / 2)
    this.#timer = setTimeout(() => this.#again(), ms).unref()
  }

  /**
   * Called when the probe got an answer. Gives the older connections some time for their answers,
   * because the server may have just recovered.
   */
  #onAnswer(client: RedisClient): void {
    if (client !== this.#client) return
    clearTimeout(this.#timer)
    const ms = this.#settings.silenceMs / 4
    this.#timer = setTimeout(() => this.#leaveSilent(), ms).unref()
  }

  #leaveSilent(): void {
    const suspects = [...this.#suspects]
    this.#suspects.clear()
    this.#finish()
    const { silenceMs } = this.#settings
    for (const one of suspects) {
      if (one.isSilent) one.reconnect(new NoAnswer('unsent', `no answer within ${silenceMs} ms`))
    }
  }

  /**
   * Called when the probe got no answer. Opens another probe while connections are silent, because
   * the probe itself may be dead.
   */
  #again(): void {
    this.#finish()
    for (const one of this.#suspects) {
      if (one.isSilent) one.trouble.silent()
      else this.#suspects.delete(one)
    }
    if (this.#suspects.size === 0) return
    this.#waitMs = Math.min(2 * this.#waitMs, Math.max(LONGEST_MS, this.#settings.silenceMs))
    this.#timer = setTimeout(() => this.#open(), PAUSE_MS).unref()
  }

  #finish(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#client?.disconnect()
    this.#client = undefined
  }
}
