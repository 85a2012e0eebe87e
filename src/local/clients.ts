import type { Clock } from '../kit/clock.ts'
import { clientOf, isOfHoldfast } from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { ClientInfo, Presence } from '../servers/presence.ts'

/** This many are remembered. */
const MOST = 100

/** This many are asked about at the same time, in the background. */
const MOST_AT_ONCE = 10

/** One that told nothing is asked about again after this time, in milliseconds. */
const ASK_AGAIN_MS = 10_000

/** The clients of this process that are open, by their ids. */
const ofThisProcess = new Map<string, ClientInfo>()

/** What is needed of a client. */
interface Services {
  readonly presence: Presence
  readonly own: ClientInfo
  readonly clock: Clock
  /** How long one question may take, in milliseconds. */
  readonly limits: { readonly commandTimeoutMs: number }
}

/** The clients that were asked about, and this one: what a client tells of itself never changes. */
export class Clients {
  readonly #presence: Presence
  readonly #own: ClientInfo
  readonly #clock: Clock
  readonly #callMs: number
  readonly #known = new Map<string, ClientInfo>()
  /** When those were asked about in the background of whom nothing is known. */
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

  /** The client of that owner, if it is known. */
  find(owner: string): ClientInfo | null {
    const client = clientOf(owner)
    if (client === this.#own.client) return this.#own
    return ofThisProcess.get(client) ?? this.#known.get(client) ?? null
  }

  /** Where the client of that owner is: `here` is this client, `process` is another one of this process. */
  nearnessOf(owner: string): 'here' | 'process' | 'elsewhere' {
    const client = clientOf(owner)
    if (client === this.#own.client) return 'here'
    return ofThisProcess.has(client) ? 'process' : 'elsewhere'
  }

  /** Asks, and rejects with a `CallFailure` and nothing else; null where nobody knows. */
  async ask(owner: string, callMs: number): Promise<ClientInfo | null> {
    const info = await this.#presence.clientInfo(clientOf(owner), callMs)
    if (info === null) return null
    this.#known.set(info.client, info)
    dropOldest(this.#known)
    return info
  }

  /** Whether {@link learn} would ask. */
  mayLearn(owner: string): boolean {
    if (this.#isRefused || this.#asking >= MOST_AT_ONCE || !isOfHoldfast(owner)) return false
    const askedAt = this.#askedAt.get(clientOf(owner)) ?? -Infinity
    return this.find(owner) === null && this.#clock.monotonic() - askedAt >= ASK_AGAIN_MS
  }

  /**
   * Asks once who the client of that owner is, because somebody waits for that owner.
   *
   * @returns when that is answered, or has failed; undefined if it is not asked
   */
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
      // A login without the right asks no more: each refusal is a line in the server's log.
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
