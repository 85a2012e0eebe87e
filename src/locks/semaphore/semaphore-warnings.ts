import { warn } from '../../kit/warning.ts'

/** So many names of one client are warned of at most, of each warning. */
const MOST_NAMES = 100

/** The name of a semaphore, as it was given to the client and as Redis knows it. */
interface Named {
  readonly name: string
  readonly rawName: string
}

/** What one client warns of, once for each semaphore. */
export class SemaphoreWarnings {
  readonly #setBy: string
  readonly #unset = new Set<string>()
  readonly #differing = new Set<string>()

  /** @param setBy which calls set how many permits there are */
  constructor(setBy: string) {
    this.#setBy = setBy
  }

  /** Whether a semaphore without permits is still to be warned of. */
  warnsOfNone({ rawName }: Named): boolean {
    return !this.#unset.has(rawName) && this.#unset.size < MOST_NAMES
  }

  /** Somebody has waited so long for a semaphore of which nobody has set how many permits there are. */
  none(semaphore: Named, waitedMs: number): void {
    if (!this.warnsOfNone(semaphore)) return
    this.#unset.add(semaphore.rawName)
    warn(
      'HOLDFAST_NO_PERMITS',
      `Semaphore "${semaphore.name}" has no permits, and a call has waited for one for ${waitedMs} ms. No client ` +
        `has set their number, or Redis has lost its data. ${this.#setBy}`,
    )
  }

  /** The number in Redis is another one than the option of the client. */
  differs(semaphore: Named, inRedis: number, limit: number): void {
    const { name, rawName } = semaphore
    if (this.#differing.has(rawName) || this.#differing.size >= MOST_NAMES) return
    this.#differing.add(rawName)
    warn(
      'HOLDFAST_PERMITS_DIFFER',
      `Semaphore "${name}" has ${inRedis} permits in Redis, but the option \`permits\` of this client is ${limit}. ` +
        `The number in Redis counts. Call setPermits(${limit}) to change it for all clients, or correct the option.`,
    )
  }
}
