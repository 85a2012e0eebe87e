import { clientOf } from '../answers.ts'
import { ALIVE_MS, CLAIM_MS } from '../fair-server.ts'
import type { MemoryServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'
import type { Mark } from './records/queue-record.ts'

/** Who is to have a lock that is let go. */
interface Giving {
  /** Who asks, is awake, and has it for its lease when it is the first or nobody queues. */
  readonly asker?: { readonly owner: string; readonly leaseMs: number }
  /** The client that asks, which is alive. */
  readonly own?: string
  /** Whether that client reads in the answer who of it has the lock. */
  readonly silent?: boolean
  /** The token of the hold that ends. */
  readonly above?: number
}

/** Who is next in the queue of one lock, in one request. */
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

  /** Keeps the places of a client alive from now on. */
  stayAlive(client: string, listens: boolean, label: string): void {
    const { queue } = this.#record
    const mark = queue.mark(client)
    // Mostly it was done just before.
    if (mark?.seen === listens && mark.untilMs - this.#now > 0.75 * ALIVE_MS) return
    const untilMs = this.#now + ALIVE_MS
    queue.setMark(client, { untilMs, seen: listens && this.#isHeard(client), label }, this.#now)
    queue.keepUntil(this.#now + 2 * ALIVE_MS)
  }

  /** The first in the queue who is alive; those before it are taken out. */
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
   * Gives the lock, which nobody else is to have, to the first in the queue who is alive, for the claim
   * window; or to who asks. Whoever was taken for dead and is not is put back by its next heartbeat.
   *
   * @returns who has it, and was told by a message unless it reads it in the answer; null when nobody
   * queues
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

  /** A client whose listening was seen, and who listens no more, is gone. */
  #isAlive(client: string, mark: Mark | undefined): boolean {
    if (mark === undefined || mark.untilMs < this.#now) return false
    return !mark.seen || this.#isHeard(client)
  }

  #isHeard(client: string): boolean {
    return this.#server.grants.count(client) > 0
  }
}
