import { InvalidArgumentError, show } from '../errors.ts'

/**
 * Somebody who can hold locks: a frame, one bare acquisition, or an owner made with
 * `holdfast.owner()`. Locks made with the same owner re-enter one another.
 */
export class Owner {
  readonly clientId: string
  /** Unique in the client. */
  readonly id: string
  readonly #generations = new Map<string, number>()

  /** @internal */
  constructor(clientId: string, id: string) {
    this.clientId = clientId
    this.id = id
  }

  /**
   * The owner as Redis knows it on the given lock: `<clientId>:<id>`.
   *
   * @internal
   */
  wireNameOn(lock: string): string {
    const generation = this.#generations.get(lock)
    const name = `${this.clientId}:${this.id}`
    return generation === undefined ? name : `${name}.${generation}`
  }

  /**
   * From now on this owner has another name on that lock. Used when nobody knows what Redis has
   * for the old one: a late command in that name cannot touch what is acquired from now on.
   *
   * @internal
   */
  renameOn(lock: string): void {
    this.#generations.set(lock, (this.#generations.get(lock) ?? 0) + 1)
  }
}

/**
 * The owner that `getLock` was given, or undefined.
 *
 * @throws `InvalidArgumentError` for another option, or an owner that is not of that client
 */
export function ownerOf(options: unknown, clientId: string): Owner | undefined {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(`The options of a lock must be an object; got ${show(options)}.`)
  }
  const { owner, ...others } = options as { owner?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) {
    throw new InvalidArgumentError(`There is no option \`${other}\` here. There are: owner.`)
  }
  if (owner === undefined) return undefined
  if (owner instanceof Owner && owner.clientId === clientId) return owner
  const got = owner instanceof Owner ? 'an owner of another client' : show(owner)
  throw new InvalidArgumentError(
    `\`owner\` must come from owner() of the same Holdfast client; got ${got}.`,
  )
}
