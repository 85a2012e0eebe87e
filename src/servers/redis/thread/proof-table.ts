/** A moment on both clocks, in milliseconds, on the time line of the main thread. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

const SLOTS = 1_024

/**
 * When each lease was last proved, in memory that two threads share: the main thread can read what
 * the worker has done at the first line after a blocked event loop, before any message arrives.
 * It grows by blocks; a block once made stays where it is.
 */
export class ProofTable {
  readonly #blocks: Float64Array[] = []

  /** @returns the memory of a new block, for the other thread's `adopt` */
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

  read(slot: number): Moment {
    const block = this.#blocks[Math.floor(slot / SLOTS)]
    const i = (slot % SLOTS) * 2
    return { monotonic: block?.[i] ?? 0, wall: block?.[i + 1] ?? 0 }
  }

  // A reader between the two writes sees one old clock and one new one, and the worse counts.
  write(slot: number, at: Moment): void {
    const block = this.#blocks[Math.floor(slot / SLOTS)]
    if (block === undefined) return
    const i = (slot % SLOTS) * 2
    block[i] = at.monotonic
    block[i + 1] = at.wall
  }
}
