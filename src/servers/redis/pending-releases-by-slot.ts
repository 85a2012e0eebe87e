import { PendingReleases } from '../pending-releases.ts'

/**
 * The pending releases of one server or cluster, separate for each slot. So a silent node of a
 * cluster does not delay releases at other nodes.
 */
export class PendingReleasesBySlot {
  readonly #callMs: number
  readonly #label: string
  readonly #all = new Map<number, PendingReleases>()

  /**
   * @param callMs how long one release may take, in milliseconds
   * @param label the label of the client, for messages on diagnostics channels
   */
  constructor(callMs: number, label: string) {
    this.#callMs = callMs
    this.#label = label
  }

  /** @param slot 0 for a server that is not a cluster */
  of(slot: number): PendingReleases {
    let pending = this.#all.get(slot)
    if (pending === undefined) {
      pending = new PendingReleases(this.#callMs, this.#label)
      this.#all.set(slot, pending)
    }
    return pending
  }

  /** Resolves when no release is pending. */
  async quiet(): Promise<void> {
    await Promise.all([...this.#all.values()].map((pending) => pending.quiet()))
  }

  stopAll(): void {
    for (const pending of this.#all.values()) pending.stopAll()
  }
}
