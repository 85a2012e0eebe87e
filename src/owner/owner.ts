import { InvalidArgumentError, show } from '../errors.ts'
import { Holder } from './holder.ts'

/** The names of one owner on one lock. */
interface Names {
  readonly lock: string
  /** How many it has had beside the first. */
  generation: number
  firstInUse: boolean
}

/**
 * Somebody who can hold locks: a frame of `run`, one `using`, one bare acquisition, or an owner made
 * with `holdfast.owner()`. Locks made with the same owner re-enter one another.
 */
export class Owner extends Holder {
  readonly clientId: string
  /** Unique in the client. */
  readonly id: string
  /**
   * The innermost frame around its one acquisition, if that is nobody else's.
   *
   * @internal
   */
  madeIn: object | undefined
  /**
   * The lock object that made it for one acquisition, if that is nobody else's.
   *
   * @internal
   */
  madeBy: object | undefined
  /** Those on the lock that last got some; most owners have one lock at a time. */
  #latest: Names | undefined
  #others: Map<string, Names> | undefined
  #gathering: Set<string> | undefined
  #attempts = 0

  /** @internal */
  constructor(clientId: string, id: string) {
    super()
    this.clientId = clientId
    this.id = id
  }

  /**
   * A name for one attempt at a lock: `<clientId>:<id>`, or with a number behind it while the first
   * name is in use or in doubt. No two attempts under way share one, so that what is told to Redis
   * late, in the name of the one, cannot touch what the other has got.
   *
   * @internal
   */
  takeNameOn(lock: string): string {
    const first = `${this.clientId}:${this.id}`
    const names = this.#namesOn(lock) ?? this.#newNamesOn(lock)
    if (!names.firstInUse) {
      names.firstInUse = true
      return first
    }
    names.generation += 1
    return `${first}.${names.generation}`
  }

  /**
   * A name for one attempt at any lock, never to be used again; none that `takeNameOn` gives.
   *
   * @internal
   */
  newName(): string {
    this.#attempts += 1
    return `${this.clientId}:${this.id}/${this.#attempts}`
  }

  /**
   * Whether it is about to have that lock together with others.
   *
   * @internal
   */
  isGathering(lock: string): boolean {
    return this.#gathering?.has(lock) === true
  }

  /** @internal */
  gathers(lock: string): void {
    this.#gathering ??= new Set()
    this.#gathering.add(lock)
  }

  /** @internal */
  gathered(lock: string): void {
    this.#gathering?.delete(lock)
  }

  /**
   * Redis has nothing under that name, and nothing on its way to it. A name in doubt is never given
   * back.
   *
   * @internal
   */
  giveBackNameOn(lock: string, name: string): void {
    const names = this.#namesOn(lock)
    if (names === undefined || name !== `${this.clientId}:${this.id}`) return
    names.firstInUse = false
    if (names.generation > 0) return
    if (names === this.#latest) this.#latest = undefined
    else this.#others?.delete(lock)
  }

  #namesOn(lock: string): Names | undefined {
    return this.#latest?.lock === lock ? this.#latest : this.#others?.get(lock)
  }

  #newNamesOn(lock: string): Names {
    if (this.#latest !== undefined) {
      this.#others ??= new Map()
      this.#others.set(this.#latest.lock, this.#latest)
    }
    this.#latest = { lock, generation: 0, firstInUse: false }
    return this.#latest
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
