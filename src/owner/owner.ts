import { InvalidArgumentError, show } from '../errors.ts'

/**
 * Somebody who can hold locks: a frame, one bare acquisition, or an owner made with
 * `holdfast.owner()`. Locks made with the same owner re-enter one another.
 */
export class Owner {
  /** Unique in the client; in Redis the owner is `<clientId>:<id>`. */
  readonly id: string
  readonly #generations = new Map<string, number>()

  constructor(id: string) {
    this.id = id
  }

  /** The name of this owner on the given lock. */
  idOn(lock: string): string {
    const generation = this.#generations.get(lock)
    return generation === undefined ? this.id : `${this.id}.${generation}`
  }

  /**
   * From now on this owner has another name on that lock. Used when nobody knows what Redis has
   * for the old one: a late command in that name cannot touch what is acquired from now on.
   */
  renameOn(lock: string): void {
    this.#generations.set(lock, (this.#generations.get(lock) ?? 0) + 1)
  }

  toString(): string {
    return this.id
  }
}

/** @throws `InvalidArgumentError` for what is neither an owner nor left out */
export function assertOwner(owner: unknown): asserts owner is Owner | undefined {
  if (owner === undefined || owner instanceof Owner) return
  throw new InvalidArgumentError(`\`owner\` must come from holdfast.owner(); got ${show(owner)}.`)
}
