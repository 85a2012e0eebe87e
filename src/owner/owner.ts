import { InvalidArgumentError } from '../errors.ts'
import { behind, handleClassOf, otherCopy } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { optionsOf } from '../options/input.ts'
import { Holder } from './holder.ts'

const MEMBERS = ['clientId', 'id'] as const

/** An owner for users: `holdfast.owner()` returns it, and `getLock(name, { owner })` takes it. */
export interface OwnerHandle extends Pick<Owner, (typeof MEMBERS)[number]> {}

/**
 * An owner that can hold locks: a frame of `run`, one `using`, one acquisition without a frame, or an owner of
 * `holdfast.owner()`. Locks with the same owner re-enter each other.
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
   * The number of the lock object that made it for one acquisition, if that is nobody else's. Not the object: an
   * owner is known as long as its lock is renewed, and the object only to those who may release it.
   *
   * @internal
   */
  madeBy: number | undefined
  /**
   * The label of the candidate, if it is one of an election.
   *
   * @internal
   */
  declare label?: string
  #gathering: Set<string> | undefined
  #attempts = 0
  #handle: OwnerHandle | undefined

  /** @internal */
  constructor(clientId: string, id: string) {
    super()
    this.clientId = clientId
    this.id = id
  }

  /** The handle of this owner for users. */
  get handle(): OwnerHandle {
    this.#handle ??= new HandleOfOwner(this)
    return this.#handle
  }

  /**
   * A name for one attempt at a lock, never to be used again: `<clientId>:<id>`, and then with a number
   * behind it. What is told to Redis late, in the name of one attempt, cannot touch what another has got;
   * nor can a server that forgot a release take the next attempt for the one that was released.
   *
   * @internal
   */
  newName(): string {
    this.#attempts += 1
    const first = `${this.clientId}:${this.id}`
    return this.#attempts === 1 ? first : `${first}/${this.#attempts}`
  }

  /**
   * Whether that is the name of one of its attempts.
   *
   * @internal
   */
  isNamed(wireOwner: string): boolean {
    const first = `${this.clientId}:${this.id}`
    return wireOwner === first || wireOwner.startsWith(`${first}/`)
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
}

const HandleOfOwner = handleClassOf(Owner, MEMBERS, { variable: 'owner' })

/**
 * The owner that `getLock` was given, or undefined.
 *
 * @throws `InvalidArgumentError` for another option, or an owner that is not of that client
 */
export function ownerOf(options: unknown, clientId: string): Owner | undefined {
  const { owner } = optionsOf(options, 'The options of a lock', ['owner']) as { owner?: unknown }
  if (owner === undefined) return undefined
  const one = behind(owner, Owner)
  if (one?.clientId === clientId) return one
  const got = one === undefined ? show(owner) : 'an owner of another client'
  const advice = otherCopy(owner)
  throw new InvalidArgumentError(
    `\`owner\` must come from owner() of the same Holdfast client; got ${got}.${advice ? ` ${advice}.` : ''}`,
  )
}
