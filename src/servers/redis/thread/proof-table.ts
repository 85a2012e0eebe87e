/** A moment on both clocks, in milliseconds. The monotonic clock belongs to the main thread. */
export interface ProofMoment {
  readonly monotonic: number
  readonly wall: number
}

const SLOTS = 1_024

/**
 * Stores when each lease was last proved, in memory that two threads share. So after its event loop
 * was blocked, the main thread sees the worker's renewals before any message arrives. The table
 * grows by blocks, which never move.
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
  // the reader measures the age of the proof on both clocks, and the longer age counts.
  write(slot: number, at: ProofMoment): void {
    const block = this.#blocks[Math.floor(slot / SLOTS)]
    if (block === undefined) return
    const i = (slot % SLOTS) * 2
    block[i] = at.monotonic
    block[i + 1] = at.wall
  }
}
