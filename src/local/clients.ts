import type { Clock } from '../kit/clock.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import { clientOf, isOfHoldfast } from '../servers/owner-id.ts'
import type { ClientInfo, Presence } from '../servers/presence.ts'

/** The largest number of clients that each map of `Clients` remembers. */
const MOST = 100

/** The largest number of background requests about clients that are in flight at a time. */
const MOST_AT_ONCE = 10

/** The shortest time between two background requests about the same client, in milliseconds. */
const ASK_AGAIN_MS = 10_000

/** The clients of this process that are not closed, by client id. */
const ofThisProcess = new Map<string, ClientInfo>()

interface ClientServices {
  readonly presence: Presence
  readonly own: ClientInfo
  readonly clock: Clock
  /** `commandTimeoutMs` is the time limit of one background request, in milliseconds. */
  readonly limits: { readonly commandTimeoutMs: number }
}

/**
 * Finds the label and the process of this client, of other clients in this process, and of clients
 * that the server knows. Remembers each answer of the server, because the data of a client never
 * changes.
 */
export class Clients {
  readonly #presence: Presence
  readonly #own: ClientInfo
  readonly #clock: Clock
  readonly #callMs: number
  readonly #known = new Map<string, ClientInfo>()
  /**
   * For each client id, the time of the last background request about this client, on the monotonic
   * clock.
   */
  readonly #requestedAt = new Map<string, number>()
  #asking = 0
  #isRefused = false

  constructor({ presence, own, clock, limits }: ClientServices) {
    this.#presence = presence
    this.#own = own
    this.#clock = clock
    this.#callMs = limits.commandTimeoutMs
    ofThisProcess.set(own.client, own)
  }

  /** Returns the client of this owner without a request, or null if the client is not known yet. */
  find(owner: string): ClientInfo | null {
    const client = clientOf(owner)
    if (client === this.#own.client) return this.#own
    return ofThisProcess.get(client) ?? this.#known.get(client) ?? null
  }

  /**
   * Returns where the client of this owner is. `here` means this client. `process` means another
   * client of this process. `elsewhere` means any other client.
   */
  nearnessOf(owner: string): 'here' | 'process' | 'elsewhere' {
    const client = clientOf(owner)
    if (client === this.#own.client) return 'here'
    return ofThisProcess.has(client) ? 'process' : 'elsewhere'
  }

  /**
   * Asks the server about the client of this owner. Returns null if the server does not know the
   * client. Rejects only with a `CallFailure`.
   */
  async fetchInfo(owner: string, callMs: number): Promise<ClientInfo | null> {
    const info = await this.#presence.clientInfo(clientOf(owner), callMs)
    if (info === null) return null
    this.#known.set(info.client, info)
    dropOldest(this.#known)
    return info
  }

  /** True if {@link learn} would send a request about the client of this owner. */
  mayLearn(owner: string): boolean {
    if (this.#isRefused || this.#asking >= MOST_AT_ONCE || !isOfHoldfast(owner)) return false
    const requestedAt = this.#requestedAt.get(clientOf(owner)) ?? -Infinity
    return this.find(owner) === null && this.#clock.monotonic() - requestedAt >= ASK_AGAIN_MS
  }

  /**
   * Sends one background request about the client of this owner. Returns undefined if {@link
   * mayLearn} is false for this owner. The promise never rejects.
   */
  learn(owner: string): Promise<void> | undefined {
    if (!this.mayLearn(owner)) return undefined
    const client = clientOf(owner)
    this.#requestedAt.delete(client)
    this.#requestedAt.set(client, this.#clock.monotonic())
    dropOldest(this.#requestedAt)
    return this.#fetchQuietly(owner)
  }

  unregister(): void {
    ofThisProcess.delete(this.#own.client)
  }

  async #fetchQuietly(owner: string): Promise<void> {
    this.#asking += 1
    try {
      await this.fetchInfo(owner, this.#callMs)
    } catch (error) {
      const { kind, permanent } = error as CallFailure
      // If the login has no right to ask, the client stops its background requests. Each refusal adds a
      // line to the server's log.
      this.#isRefused ||= kind === 'refused' && permanent
    } finally {
      this.#asking -= 1
    }
  }
}

function dropOldest(all: Map<string, unknown>): void {
  const [oldest] = all.keys()
  if (all.size > MOST && oldest !== undefined) all.delete(oldest)
}
