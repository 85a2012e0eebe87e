/** So many others can ask at the same moment. */
const FEW = 8

/** Where there are more, each is given so long on average, in milliseconds. */
const EACH_MS = 0.5
const LONGEST_MS = 50

/**
 * How many other clients seem to want a lock: as many as release it while this one waits. A release
 * wakes all of them. Where they are many they ask at random moments; what is released before such a
 * moment is not asked for twice. So a release costs a few questions, however many wait. Measured with
 * `npm run bench -- --only g`.
 */
export class Crowd {
  /** How many releases it heard since it had the lock, and how many it did before, on average. */
  #heard = 0
  #average = 0

  heard(): void {
    this.#heard += 1
  }

  /** This client has the lock. */
  won(): void {
    this.#average = (this.#average + this.#heard) / 2
    this.#heard = 0
  }

  /** How long to let others ask first, in milliseconds: another time for each call, 0 among few. */
  get asideMs(): number {
    // Who only has had bad luck is not to have more of it.
    const others = Math.max(this.#average, this.#heard / 3)
    return others < FEW ? 0 : Math.random() * Math.min(others * EACH_MS, LONGEST_MS)
  }
}
