import { clientOf } from '../answers.ts'
import { ALIVE_MS, CLAIM_MS } from '../fair-server.ts'
import type { MemoryServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'
import type { Mark } from './records/queue-record.ts'

/** The options of {@link FairGrants.giveToNext}. */
interface Giving {
  /**
   * The owner that asks. If the asker gets the lock, its own lease begins instead of a claim
   * window.
   */
  readonly asker?: { readonly owner: string; readonly leaseMs: number }
  /** The client that sent the request. It counts as alive. */
  readonly own?: string
  /** True if that client learns the new holder from the answer. Then it gets no message. */
  readonly silent?: boolean
  /** The token of the hold that ends. The new token is above this one. */
  readonly above?: number
}

/** Finds the next owner in the queue of one lock, for one request. */
export class FairGrants {
  readonly #server: MemoryServer
  readonly #record: LockRecord
  readonly #counterMs: number
  readonly #now: number

  constructor(server: MemoryServer, record: LockRecord, counterMs: number, now: number) {
    this.#server = server
    this.#record = record
    this.#counterMs = counterMs
    this.#now = now
  }

  /** Keeps the places of a client for `ALIVE_MS` from now on. */
  stayAlive(client: string, listens: boolean, label: string): void {
    const { queue } = this.#record
    const mark = queue.mark(client)
    // Usually another request did the same just before, so nothing needs to change.
    if (mark?.seen === listens && mark.untilMs - this.#now > 0.75 * ALIVE_MS) return
    const untilMs = this.#now + ALIVE_MS
    queue.setMark(client, { untilMs, seen: listens && this.#isHeard(client), label }, this.#now)
    queue.keepUntil(this.#now + 2 * ALIVE_MS)
  }

  /** The first owner in the queue whose client is alive. Owners before it are removed. */
  firstAlive(own: string): string | undefined {
    const { queue } = this.#record
    for (let first = queue.first; first !== undefined; first = queue.first) {
      const client = clientOf(first.owner)
      if (client === own || this.#isAlive(client, queue.mark(client))) return first.owner
      queue.remove(first.owner)
    }
    return undefined
  }

  /**
   * Gives the free lock to the first owner in the queue whose client is alive, for the claim
   * window. If the queue is empty, the asker gets the lock. A client may be taken for dead by
   * mistake. Its next heartbeat then puts its owner back into the queue.
   *
   * @returns the new holder; null if the queue is empty and there is no asker. The new holder
   * receives a message unless its client learns this from the answer
   */
  giveToNext({ asker, own = asker && clientOf(asker.owner), silent, above }: Giving) {
    const { queue } = this.#record
    for (let first = queue.first; first !== undefined; first = queue.first) {
      const { owner } = first
      const client = clientOf(owner)
      const claimMs = queue.claimMs(owner) ?? CLAIM_MS
      queue.remove(owner)
      if (owner === asker?.owner) return this.#give(owner, asker.leaseMs, asker.leaseMs, above)
      if (client === own || this.#isAlive(client, queue.mark(client))) {
        const given = this.#give(owner, claimMs, CLAIM_MS, above)
        if (!(silent && client === own)) {
          const { rawName } = this.#record
          this.#server.grants.publish(client, { rawName, ...given })
        }
        return given
      }
      queue.dropMark(client)
    }
    return asker ? this.#give(asker.owner, asker.leaseMs, asker.leaseMs, above) : null
  }

  #give(owner: string, leaseMs: number, keptMs: number, above = 0) {
    this.#record.give(owner, this.#now + leaseMs)
    const terms = { leaseMs: keptMs, counterMs: this.#counterMs, above }
    return { owner, token: this.#server.mint(this.#record, this.#now, terms) }
  }

  /**
   * True if a client is alive. A client that was seen listening, and no longer listens, is gone.
   */
  #isAlive(client: string, mark: Mark | undefined): boolean {
    if (mark === undefined || mark.untilMs < this.#now) return false
    return !mark.seen || this.#isHeard(client)
  }

  #isHeard(client: string): boolean {
    return this.#server.grants.count(client) > 0
  }
}
