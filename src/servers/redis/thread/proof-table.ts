/** One moment on the monotonic clock of the main thread and on the wall clock, in milliseconds. */
export interface ProofMoment {
  readonly monotonic: number
  readonly wall: number
}

const SLOTS = 1_024

/**
 * Stores when each lease was last proved, in memory that both threads share. The last proof is the
 * time at which the last successful request for the lease was sent. After a blocked event loop, the
 * main thread sees the worker's renewals at once, without a message. The table grows by blocks,
 * which never move.
 */
export class ProofTable {
  readonly #blocks: Float64Array[] = []

  /** @returns the memory of a new block, for `adopt` in the other thread */
  grow(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(SLOTS * 2 * Float64Array.BYTES_PER_ELEMENT)
    this.adopt(memory)
    return memory
  }

  adopt(memory: SharedArrayBuffer): void {
    this.#blocks.push(new Float64Array(memory))
  }

  get slots(): number {
    return this.#blocks.length * SLOTS
  }

  read(slot: number): ProofMoment {
    const block = this.#blocks[Math.floor(slot / SLOTS)]
    const i = (slot % SLOTS) * 2
    return { monotonic: block?.[i] ?? 0, wall: block?.[i + 1] ?? 0 }
  }

  // Between the two writes, a reader may see one new time and one old time. This is safe, because
  // the older of the two times counts.
  write(slot: number, at: ProofMoment): void {
    const block = this.#blocks[Math.floor(slot / SLOTS)]
    if (block === undefined) return
    const i = (slot % SLOTS) * 2
    block[i] = at.monotonic
    block[i + 1] = at.wall
  }
}
