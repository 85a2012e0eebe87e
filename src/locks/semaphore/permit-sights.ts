import type { Clock, Timer } from '../../kit/clock.ts'
import type { Clients } from '../../local/clients.ts'
import type { PermitsSeen } from '../../servers/permit-pool.ts'
import type { SemaphoreWarnings } from './semaphore-warnings.ts'

/**
 * When a call has waited for this time, in milliseconds, the client looks up the processes of the
 * holders. Errors can then name these processes.
 */
const ASK_WHO_MS = 100

/**
 * If no client has set the number of permits, the client warns when a call has waited for this
 * time, in milliseconds.
 */
const WARN_MS = 500

/**
 * Errors use only a state that is not older than this, in milliseconds. While calls wait, answers
 * renew the state once a second.
 */
const RECENT_MS = 1_500

interface SightedSemaphore {
  readonly name: string
  readonly rawName: string
  readonly waiters: { readonly first: object | undefined }
  readonly services: { readonly clock: Clock }
}

export interface Watching {
  readonly clients: Pick<Clients, 'mayLearn' | 'learn'>
  readonly warnings: SemaphoreWarnings
}

/**
 * The state of one semaphore in the last refusal, for errors and warnings. The answer to an
 * acquisition contains this state, so the client sends no extra request for the state.
 */
export class PermitSights {
  readonly #semaphore: SightedSemaphore
  readonly #client: Watching
  #last: { readonly seen: PermitsSeen; readonly at: number } | undefined
  #timer: Timer | undefined

  constructor(semaphore: SightedSemaphore, client: Watching) {
    this.#semaphore = semaphore
    this.#client = client
  }

  /**
   * Stores the state in a refusal. If the refused call waits, a check may follow.
   *
   * @param waits true if the refused call waits for permits
   */
  refused(seen: PermitsSeen, waits: boolean): void {
    this.#last = { seen, at: this.#clock.monotonic() }
    if (waits) this.#checkSoon(seen)
  }

  clear(): void {
    this.#last = undefined
  }

  /**
   * The state in the last refusal, with the present age of each hold. Undefined if there is no
   * refusal, or the refusal is too old.
   */
  get recent(): PermitsSeen | undefined {
    if (this.#last === undefined) return undefined
    const { seen, at } = this.#last
    const agoMs = this.#clock.monotonic() - at
    if (agoMs > RECENT_MS) return undefined
    const holders = seen.holders.map(({ ageMs, ...holder }) => ({
      ...holder,
      ageMs: Math.round(ageMs + agoMs),
    }))
    return { ...seen, holders }
  }

  /**
   * Starts a timer for a check, unless a timer runs or the check is not needed. The check warns if
   * no client has set the number of permits. Otherwise the check looks up the processes that hold
   * permits. If no call waits any more, the check does nothing.
   */
  #checkSoon(seen: PermitsSeen): void {
    if (this.#timer !== undefined) return
    const isUnset = !seen.isSet
    if (isUnset ? !this.#client.warnings.warnsOfNone(this.#semaphore) : !this.#hasUnknown(seen)) {
      return
    }
    const check = () => {
      this.#timer = undefined
      if (this.#last === undefined || this.#semaphore.waiters.first === undefined) return
      if (!this.#last.seen.isSet) this.#client.warnings.none(this.#semaphore, WARN_MS)
      else void this.#fetchHolders(this.#last.seen)
    }
    this.#timer = this.#clock.after(isUnset ? WARN_MS : ASK_WHO_MS, check).unref()
  }

  #hasUnknown({ holders }: PermitsSeen): boolean {
    return holders.some(({ owner }) => this.#client.clients.mayLearn(owner))
  }

  /**
   * Looks up one holder after another, because the user of the connection may have no right to look
   * up holders. The server then refuses only one request, because this client sends no further request.
   */
  async #fetchHolders({ holders }: PermitsSeen): Promise<void> {
    for (const { owner } of holders) await this.#client.clients.learn(owner)
  }

  get #clock(): Clock {
    return this.#semaphore.services.clock
  }
}
