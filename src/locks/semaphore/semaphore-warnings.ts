import { warn } from '../../kit/warning.ts'

/** A `SemaphoreWarnings` object gives each kind of warning for at most this many semaphores. */
const MOST_NAMES = 100

interface SemaphoreName {
  readonly name: string
  readonly rawName: string
}

/**
 * The warnings of one client about semaphores with leases, or about semaphores without leases. Each
 * semaphore gets each warning at most once.
 */
export class SemaphoreWarnings {
  readonly #setBy: string
  readonly #server: string
  readonly #unset = new Set<string>()
  readonly #differing = new Set<string>()

  /**
   * @param setBy a sentence that names the calls which set the number of permits
   * @param server the name of the server
   */
  constructor(setBy: string, server: string) {
    this.#setBy = setBy
    this.#server = server
  }

  /** True if the client may still warn that this semaphore has no permits. */
  warnsOfNone({ rawName }: SemaphoreName): boolean {
    return !this.#unset.has(rawName) && this.#unset.size < MOST_NAMES
  }

  /** Warns that a call has waited for `waitedMs` while no client has set the number of permits. */
  none(semaphore: SemaphoreName, waitedMs: number): void {
    if (!this.warnsOfNone(semaphore)) return
    this.#unset.add(semaphore.rawName)
    warn(
      'HOLDFAST_NO_PERMITS',
      `Semaphore "${semaphore.name}" has no permits, and a call has waited for one for ${waitedMs} ms. No client ` +
        `has set their number, or the number was deleted or lost. ${this.#setBy}`,
    )
  }

  /** Warns that the number of permits on the server differs from the `permits` option of the client. */
  differs(semaphore: SemaphoreName, permits: number, limit: number): void {
    const { name, rawName } = semaphore
    if (this.#differing.has(rawName) || this.#differing.size >= MOST_NAMES) return
    this.#differing.add(rawName)
    warn(
      'HOLDFAST_PERMITS_DIFFER',
      `Semaphore "${name}" has ${permits} permits in ${this.#server}, but the option \`permits\` of this client is ${limit}. ` +
        `The number in ${this.#server} counts. Call setPermits(${limit}) to change it for all clients, or correct the option.`,
    )
  }
}
