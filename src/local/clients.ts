import type { Clock } from '../kit/clock.ts'
import { clientOf, isOfHoldfast } from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { ClientInfo, Presence } from '../servers/presence.ts'

/** The largest number of clients whose processes are remembered. */
const MOST = 100

/** The largest number of background requests about clients at a time. */
const MOST_AT_ONCE = 10

/**
 * If a client is unknown, the next background request about that client follows after this time, in
 * milliseconds.
 */
const ASK_AGAIN_MS = 10_000

/** The open clients of this process, by client id. */
const ofThisProcess = new Map<string, ClientInfo>()

interface Services {
  readonly presence: Presence
  readonly own: ClientInfo
  readonly clock: Clock
  /** The timeout of one request, in milliseconds. */
  readonly limits: { readonly commandTimeoutMs: number }
}

/**
 * Knows this client, the other clients of this process, and the clients that the server has
 * reported. Answers are kept, because they never change.
 */
export class Clients {
  readonly #presence: Presence
  readonly #own: ClientInfo
  readonly #clock: Clock
  readonly #callMs: number
  readonly #known = new Map<string, ClientInfo>()
  /** When the server was last asked about each client in the background, on the monotonic clock. */
  readonly #askedAt = new Map<string, number>()
  #asking = 0
  #isRefused = false

  constructor({ presence, own, clock, limits }: Services) {
    this.#presence = presence
    this.#own = own
    this.#clock = clock
    this.#callMs = limits.commandTimeoutMs
    ofThisProcess.set(own.client, own)
  }

  /** @returns null if the client of that owner is unknown */
  find(owner: string): ClientInfo | null {
    const client = clientOf(owner)
    if (client === this.#own.client) return this.#own
    return ofThisProcess.get(client) ?? this.#known.get(client) ?? null
  }

  /**
   * Tells which client the owner belongs to. `here`: this client. `process`: another client in this
   * process.
   */
  nearnessOf(owner: string): 'here' | 'process' | 'elsewhere' {
    const client = clientOf(owner)
    if (client === this.#own.client) return 'here'
    return ofThisProcess.has(client) ? 'process' : 'elsewhere'
  }

  /**
   * Asks the server about the owner's client. Rejects only with a `CallFailure`; returns null if
   * the server does not know the client.
   */
  async ask(owner: string, callMs: number): Promise<ClientInfo | null> {
    const info = await this.#presence.clientInfo(clientOf(owner), callMs)
    if (info === null) return null
    this.#known.set(info.client, info)
    dropOldest(this.#known)
    return info
  }

  /** True if {@link learn} would send a request. */
  mayLearn(owner: string): boolean {
    if (this.#isRefused || this.#asking >= MOST_AT_ONCE || !isOfHoldfast(owner)) return false
    const askedAt = this.#askedAt.get(clientOf(owner)) ?? -Infinity
    return this.find(owner) === null && this.#clock.monotonic() - askedAt >= ASK_AGAIN_MS
  }

  /** Sends one request about the owner's client, because a waiter waits for that owner. */
  learn(owner: string): Promise<void> | undefined {
    if (!this.mayLearn(owner)) return undefined
    const client = clientOf(owner)
    this.#askedAt.delete(client)
    this.#askedAt.set(client, this.#clock.monotonic())
    dropOldest(this.#askedAt)
    return this.#askQuietly(owner)
  }

  close(): void {
    ofThisProcess.delete(this.#own.client)
  }

  async #askQuietly(owner: string): Promise<void> {
    this.#asking += 1
    try {
      await this.ask(owner, this.#callMs)
    } catch (error) {
      const { kind, permanent } = error as CallFailure
      // If the login has no right to ask, the client stops asking, because each refusal adds a line
      // to the server's log.
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
