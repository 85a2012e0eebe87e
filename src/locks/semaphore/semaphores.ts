import { within } from '../../kit/within.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { RacingWaiter } from '../../local/acquire.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { SemaphoreServer } from '../../servers/semaphore-server.ts'
import { PermitKinds } from './permit-kinds.ts'

/** The semaphores of one client. */
export class Semaphores {
  readonly locks: LocalLocks
  readonly server: SemaphoreServer
  readonly kinds: PermitKinds
  readonly #inUse = new Set<() => Promise<unknown>>()

  constructor(locks: LocalLocks, server: SemaphoreServer) {
    this.locks = locks
    this.server = server
    this.kinds = new PermitKinds({
      pool: (rawName) => server.semaphore(rawName),
      newWaiter: (lock, request) => new PlainPermitWaiter(lock, request),
    })
  }

  /**
   * Permits that somebody works with.
   *
   * @param add adds them, when the work has ended or the client is closed
   * @returns adds them once; where that was not confirmed the event `error` tells
   */
  inUse(add: () => Promise<unknown>): () => Promise<unknown> {
    let added: Promise<unknown> | undefined
    const giveBack = () => {
      this.#inUse.delete(giveBack)
      added ??= add().catch((error: Error) => this.locks.emit('error', error))
      return added
    }
    this.#inUse.add(giveBack)
    return giveBack
  }

  /** Gives back what is worked with, as locks are released; for as long as a command may take. */
  async close(): Promise<void> {
    const all = Promise.all([...this.#inUse].map((giveBack) => giveBack()))
    await within(this.locks.limits.commandTimeoutMs + 50, all)
  }
}

/** What its caller gets: permits without a lease are nobody's. */
const TAKEN = Object.freeze({}) as Lease

/**
 * The lease that its request is for, in milliseconds: a grant counts, however late it is heard of. Far from where
 * times are not whole any more.
 */
export const NO_LEASE_MS = Number.MAX_SAFE_INTEGER / 1_000

/** Waits for permits that have no lease: once they are taken nothing is kept of them here. */
class PlainPermitWaiter extends RacingWaiter {
  override granted(hold: Hold): void {
    hold.end()
    if (this.settled) this.lock.abandonHold(hold)
    else this.resolve(hold)
  }

  override newLease(): Lease {
    return TAKEN
  }
}
