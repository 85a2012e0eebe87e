import { clearTimeout, setTimeout } from 'node:timers'

/** Blocks one item of a lane, and all items behind it, until the gate is opened. */
export interface Gate {
  isOpen: boolean
}

interface Item {
  enteredAt: number
  deliver: () => void
  gate: Gate | undefined
  isEnd: boolean
}

interface Conditions {
  /** The current delay in ms. It also applies to items that are already on their way. */
  delayMs: () => number
  isHeld: () => boolean
}

/** One direction of a connection. It delivers items in order. It can delay them, or block them all. */
export class Lane {
  readonly #conditions: Conditions
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(conditions: Conditions) {
    this.#conditions = conditions
  }

  push(deliver: () => void, gate?: Gate): void {
    this.#enter({ enteredAt: performance.now(), deliver, gate, isEnd: false })
  }

  /**
   * Passes on the end of the connection in order, like data: with the same delay, or not at all while the lane is
   * blocked.
   */
  pushEnd(deliver: () => void): void {
    this.#enter({ enteredAt: performance.now(), deliver, gate: undefined, isEnd: true })
  }

  /** Delivers all items that can be delivered now. */
  pump(): void {
    clearTimeout(this.#timer)
    for (let head = this.#items[0]; head; head = this.#items[0]) {
      if (head.gate?.isOpen === false || this.#conditions.isHeld()) return
      const waitMs = head.enteredAt + this.#conditions.delayMs() - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(waitMs)).unref()
        return
      }
      this.#items.shift()
      head.deliver()
    }
  }

  /** Drops the waiting items, except the end of the connection. Returns true if it dropped any. */
  drop(): boolean {
    const kept = this.#items.filter((item) => item.isEnd)
    const hasLost = kept.length < this.#items.length
    this.#items = kept
    return hasLost
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#items = []
  }

  #enter(item: Item): void {
    this.#items.push(item)
    if (this.#items.length === 1) this.pump()
  }
}
