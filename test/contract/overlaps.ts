import { setImmediate as nextTurn } from 'node:timers/promises'

/** A critical section that counts how often a caller entered while another caller was inside. */
export class Room {
  overlaps = 0
  visits = 0
  #inside = 0

  readonly visit = async (): Promise<void> => {
    this.visits += 1
    if (this.#inside > 0) this.overlaps += 1
    this.#inside += 1
    for (let turns = 0; turns < 3; turns++) await nextTurn()
    this.#inside -= 1
  }
}
