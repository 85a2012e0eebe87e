import { CallFailure } from '../../call-failure.ts'
import { failureOf } from './failure-of.ts'
import { type Client, type ConnectionSettings, openClient } from './open-client.ts'
import { prepareClient } from './prepare-client.ts'

/** A connection that owes answers. */
interface Suspect {
  readonly isSilent: boolean
  readonly trouble: { silent(): void }
  leave(why: CallFailure): void
}

/** Another attempt is made after a silence of so long at the most, in milliseconds. */
const LONGEST_MS = 4_000

/** Between two attempts: a socket that connects keeps a program alive, and one that ends does for 100 ms. */
const PAUSE_MS = 150

/**
 * Tells connections that are dead from those to a server that is slow: to that one a new connection is as
 * silent. Only where that one is answered those that are not are left. So a server that stands still keeps its
 * clients, which would all come anew together when it goes on, and has one more connection of each at the most.
 */
export class Probe {
  readonly #settings: ConnectionSettings
  readonly #suspects = new Set<Suspect>()
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #waitMs = 0

  constructor(settings: ConnectionSettings) {
    this.#settings = settings
  }

  suspect(connection: Suspect): void {
    connection.trouble.silent()
    this.#suspects.add(connection)
    if (this.#timer !== undefined) return
    this.#waitMs = this.#settings.silenceMs
    this.#open()
  }

  /** That connection was closed. */
  forget(connection: Suspect): void {
    this.#suspects.delete(connection)
    if (this.#suspects.size === 0) this.#end()
  }

  #open(): void {
    const client = openClient(this.#settings, () => null)
    this.#client = client
    client.on('error', () => {})
    prepareClient(client)
    client.once('ready', () => {
      const ping = client.ping().catch((error: unknown) => {
        // That it refuses is an answer, too.
        if (failureOf(error).kind !== 'refused') throw error
      })
      ping.then(() => this.#isAnswered(client)).catch(() => {})
    })
    client.connect().catch(() => {})
    const ms = this.#waitMs * (0.75 + Math.random() / 2)
    this.#timer = setTimeout(() => this.#again(), ms).unref()
  }

  /** A server that goes on answers many at once: those who waited for longer are answered in the meantime. */
  #isAnswered(client: Client): void {
    if (client !== this.#client) return
    clearTimeout(this.#timer)
    const ms = this.#settings.silenceMs / 4
    this.#timer = setTimeout(() => this.#leaveSilent(), ms).unref()
  }

  #leaveSilent(): void {
    const suspects = [...this.#suspects]
    this.#suspects.clear()
    this.#end()
    const { silenceMs } = this.#settings
    for (const one of suspects) {
      if (one.isSilent) one.leave(new CallFailure('unsent', `no answer within ${silenceMs} ms`))
    }
  }

  /** It was silent itself, and may be dead. */
  #again(): void {
    this.#end()
    for (const one of this.#suspects) {
      if (one.isSilent) one.trouble.silent()
      else this.#suspects.delete(one)
    }
    if (this.#suspects.size === 0) return
    this.#waitMs = Math.min(2 * this.#waitMs, Math.max(LONGEST_MS, this.#settings.silenceMs))
    this.#timer = setTimeout(() => this.#open(), PAUSE_MS).unref()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#client?.disconnect()
    this.#client = undefined
  }
}
