import type { Clock, Timer } from '../../kit/clock.ts'
import type { Clients } from '../../local/clients.ts'
import type { PermitsSeen } from '../../servers/permit-pool.ts'
import type { SemaphoreWarnings } from './semaphore-warnings.ts'

/**
 * If a call has waited for this long, in milliseconds, the client looks up the processes of the
 * holders. An error can then name them.
 */
const ASK_WHO_MS = 100

/**
 * The client warns about a semaphore without permits when a call has waited for this long, in
 * milliseconds.
 */
const WARN_MS = 500

/**
 * An older state is not used for errors, in milliseconds. While calls wait, the first waiter asks
 * once a second.
 */
const RECENT_MS = 1_500

/** One semaphore in one client. */
interface Semaphore {
  readonly name: string
  readonly rawName: string
  readonly waiters: { readonly first: object | undefined }
  readonly services: { readonly clock: Clock }
}

/** The members of the client that {@link PermitSights} needs. */
export interface Watching {
  readonly clients: Pick<Clients, 'mayLearn' | 'learn'>
  readonly warnings: SemaphoreWarnings
}

/**
 * The state of one semaphore in the last refusal, for errors and warnings. The answer to an
 * acquisition contains it, so no extra request is sent.
 */
export class PermitSights {
  readonly #semaphore: Semaphore
  readonly #client: Watching
  #last: { readonly seen: PermitsSeen; readonly at: number } | undefined
  #timer: Timer | undefined

  constructor(semaphore: Semaphore, client: Watching) {
    this.#semaphore = semaphore
    this.#client = client
  }

  /** @param waits true if the refused call waits for permits */
  refused(seen: PermitsSeen, waits: boolean): void {
    this.#last = { seen, at: this.#clock.monotonic() }
    if (waits) this.#lookSoon(seen)
  }

  granted(): void {
    this.#last = undefined
  }

  /**
   * The state in the last refusal, with the age of each hold now; undefined if the refusal is too
   * old.
   */
  get recent(): PermitsSeen | undefined {
    if (this.#last === undefined) return undefined
    const { seen, at } = this.#last
    const agoMs = this.#clock.monotonic() - at
    if (agoMs > RECENT_MS) return undefined
    const holders = seen.holders.map(({ owner, ageMs }) => ({
      owner,
      ageMs: Math.round(ageMs + agoMs),
    }))
    return { ...seen, holders }
  }

  /**
   * Starts a timer, unless one runs. When it fires, the client warns if no client has set the
   * number of permits. Otherwise it looks up the clients that hold permits.
   */
  #lookSoon(seen: PermitsSeen): void {
    if (this.#timer !== undefined) return
    const isUnset = !seen.isSet
    if (isUnset ? !this.#client.warnings.warnsOfNone(this.#semaphore) : !this.#hasUnknown(seen)) {
      return
    }
    const look = () => {
      this.#timer = undefined
      if (this.#last === undefined || this.#semaphore.waiters.first === undefined) return
      if (!this.#last.seen.isSet) this.#client.warnings.none(this.#semaphore, WARN_MS)
      else void this.#askWho(this.#last.seen)
    }
    this.#timer = this.#clock.after(isUnset ? WARN_MS : ASK_WHO_MS, look).unref()
  }

  #hasUnknown({ holders }: PermitsSeen): boolean {
    return holders.some(({ owner }) => this.#client.clients.mayLearn(owner))
  }

  /**
   * Looks up one client after another. So if the login has no right to do this, Redis refuses only
   * one request.
   */
  async #askWho({ holders }: PermitsSeen): Promise<void> {
    for (const { owner } of holders) await this.#client.clients.learn(owner)
  }

  get #clock(): Clock {
    return this.#semaphore.services.clock
  }
}
