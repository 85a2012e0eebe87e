import type { LocalLocks } from '../../local/local-locks.ts'
import { MOST_LISTED, type SemaphoreFacts } from '../../servers/facts.ts'
import type { RemoteSemaphore, SemaphoreChange } from '../../servers/semaphore-server.ts'
import { OF_SEMAPHORE, outcomeWords, permitsWere } from './semaphore-words.ts'
import { type WhyNoPermits, whyNoPermits } from './why-no-permits.ts'

/** The past participle of each change, for error messages. */
const DONE = { set: 'set', add: 'added', drain: 'drained', delete: 'deleted' } as const

/**
 * The requests of one client for one semaphore without leases. Acquisitions and releases are not
 * part of this class.
 */
export class SemaphoreRequests {
  readonly #name: string
  readonly #setBy: string
  readonly #locks: LocalLocks
  readonly #remote: RemoteSemaphore

  constructor(name: string, setBy: string, locks: LocalLocks, remote: RemoteSemaphore) {
    this.#name = name
    this.#setBy = setBy
    this.#locks = locks
    this.#remote = remote
  }

  change(what: SemaphoreChange['what'], permits = 0, ttlMs = 0): Promise<number> {
    const change = { id: this.#locks.newOwner().newOwnerId(), what, permits, ttlMs }
    const isOfPermits = what === 'set' || what === 'add'
    const subject = isOfPermits ? permitsWere(permits) : 'it was'
    const failed = outcomeWords(subject, DONE[what], this.#locks.limits.words)
    return this.#locks.request(
      this.#name,
      failed,
      (callMs) => this.#remote.change(change, callMs),
      OF_SEMAPHORE,
    )
  }

  inspect(most: number): Promise<SemaphoreFacts> {
    const call = (callMs: number) => this.#remote.inspect(most, callMs)
    return this.#locks.request(this.#name, 'not inspected', call, OF_SEMAPHORE)
  }

  async why(): Promise<WhyNoPermits> {
    const { isSet, available, waiting } = await this.inspect(MOST_LISTED)
    const sight = {
      ...{ name: this.#name, setBy: this.#setBy, isSet, available, waiting },
      ...{ taken: null, holders: [] },
    }
    return whyNoPermits(sight, this.#locks, this.#locks.clock.now().wall)
  }
}
