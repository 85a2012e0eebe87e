import { clearTimeout, setTimeout } from 'node:timers'

/** Holds back one item, and what comes after it, until it is opened. */
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
  /** One-way delay in ms that holds now, also for what is under way. */
  delayMs: () => number
  isHeld: () => boolean
}

/** One direction of a connection: delivers in order, late if it must, and not at all while held. */
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

  /** The end of the connection travels like any byte: late, or not at all while held. */
  pushEnd(deliver: () => void): void {
    this.#enter({ enteredAt: performance.now(), deliver, gate: undefined, isEnd: true })
  }

  /** Delivers what may be delivered now. */
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

  /** Forgets what waits, except an end. Returns whether something was lost. */
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
