import { clientOf } from '../answers.ts'
import { ALIVE_MS, CLAIM_MS } from '../fair-server.ts'
import type { MemoryLockServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'
import type { ClientMark } from './records/queue-record.ts'

interface Giving {
  /**
   * The owner that sends the request. If this owner gets the lock, its lease is `leaseMs` instead
   * of a claim window.
   */
  readonly asker?: { readonly owner: string; readonly leaseMs: number }
  /** The client that sends the request. It counts as alive. */
  readonly own?: string
  /**
   * True if the client that sends the request reads the new holder from the answer. Then this
   * client gets no message.
   */
  readonly silent?: boolean
  /** The token of the hold that ends; the new token is higher. Undefined if no hold ends. */
  readonly above?: number
}

/** Grants one fair lock to the waiters of its queue, within one request. */
export class FairGrants {
  readonly #server: MemoryLockServer
  readonly #record: LockRecord
  readonly #counterMs: number
  readonly #now: number

  constructor(server: MemoryLockServer, record: LockRecord, counterMs: number, now: number) {
    this.#server = server
    this.#record = record
    this.#counterMs = counterMs
    this.#now = now
  }

  /**
   * Keeps the places of a client for `ALIVE_MS` from now on.
   *
   * @param listens true if the client listens to its inbox
   */
  stayAlive(client: string, listens: boolean, label: string): void {
    const { queue } = this.#record
    const mark = queue.mark(client)
    // Another request of the client has done the same a short time ago.
    if (mark?.seen === listens && mark.untilMs - this.#now > 0.75 * ALIVE_MS) return
    const untilMs = this.#now + ALIVE_MS
    queue.setMark(client, { untilMs, seen: listens && this.#isListening(client), label }, this.#now)
    queue.extendUntil(this.#now + 2 * ALIVE_MS)
  }

  /**
   * Returns the first owner in the queue whose client is alive. Removes the owners before this
   * owner from the queue.
   */
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
   * Grants the free lock to the first owner in the queue whose client is alive. The grant lasts for
   * the claim window. If the queue has no such owner, the asker gets the lock.
   *
   * A client that is alive may be skipped by mistake. Its next heartbeat adds its owners to the
   * queue again.
   *
   * @returns the new holder; null if the lock stays free
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
   * True if the places of a client count. A client that listened before, and does not listen now,
   * is considered dead.
   */
  #isAlive(client: string, mark: ClientMark | undefined): boolean {
    if (mark === undefined || mark.untilMs < this.#now) return false
    return !mark.seen || this.#isListening(client)
  }

  #isListening(client: string): boolean {
    return this.#server.grants.count(client) > 0
  }
}
