import { InvalidArgumentError } from '../errors.ts'
import { behind, handleClassOf, otherCopy } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { keepMs, refuseKeepMs, unchecked } from '../options/input.ts'
import { shape } from '../options/shape.ts'
import { LeaseHolder } from './lease-holder.ts'

const MEMBERS = ['clientId', 'id'] as const

/** The owner that users receive from `holdfast.owner()` and give to `getLock(name, { owner })`. */
export interface OwnerHandle extends Pick<Owner, (typeof MEMBERS)[number]> {}

/**
 * An owner that can hold locks: a frame of `run`, one `using`, one acquisition without a frame, or an owner of
 * `holdfast.owner()`. An owner can re-enter a lock that it holds.
 */
export class Owner extends LeaseHolder {
  readonly clientId: string
  /** The id of the owner. Each owner of the client has a different id. */
  readonly id: string
  /**
   * The innermost frame around the acquisition for which this owner was made. Undefined outside all frames, and for an
   * owner that was not made for one acquisition.
   *
   * @internal
   */
  madeIn: object | undefined
  /**
   * The number of the lock object that made this owner for one acquisition. Undefined for other owners. A reference to
   * the lock object would keep that object in memory while the watchdog renews a lease of this owner.
   *
   * @internal
   */
  madeBy: number | undefined
  /**
   * The label of the election candidate that has this owner. Undefined for other owners.
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

  get handle(): OwnerHandle {
    this.#handle ??= new HandleOfOwner(this)
    return this.#handle
  }

  /**
   * Returns a new owner id: `<clientId>:<id>` for the first attempt, and `<clientId>:<id>/<number>` for each later
   * attempt. Because the ids of attempts differ, a late request of one attempt cannot change a later hold.
   *
   * @internal
   */
  newOwnerId(): string {
    this.#attempts += 1
    const first = `${this.clientId}:${this.id}`
    return this.#attempts === 1 ? first : `${first}/${this.#attempts}`
  }

  /**
   * Returns a new owner id for an attempt with `keepMs`. The attempt number begins with 0, so that other clients see
   * that the client of the holder may keep the lock.
   *
   * @internal
   */
  newKeepingId(): string {
    this.#attempts += 1
    return `${this.clientId}:${this.id}/0${this.#attempts}`
  }

  /**
   * True if `ownerId` is an owner id of this owner.
   *
   * @internal
   */
  hasOwnerId(ownerId: string): boolean {
    const first = `${this.clientId}:${this.id}`
    return ownerId === first || ownerId.startsWith(`${first}/`)
  }

  /**
   * True while a multi-lock of this owner is acquiring the lock.
   *
   * @internal
   */
  isGathering(lock: string): boolean {
    return this.#gathering?.has(lock) === true
  }

  /** @internal */
  beginGathering(lock: string): void {
    this.#gathering ??= new Set()
    this.#gathering.add(lock)
  }

  /** @internal */
  endGathering(lock: string): void {
    this.#gathering?.delete(lock)
  }
}

const HandleOfOwner = handleClassOf(Owner, MEMBERS, { variable: 'owner' })

const SUBJECT = 'The options of a lock'
const readLockOptions = shape(SUBJECT, { owner: unchecked, keepMs: refuseKeepMs })
const readPlainLockOptions = shape(SUBJECT, { owner: unchecked, keepMs })

/**
 * Returns the owner that the options of `getFairLock` or `getReadWriteLock` contain. Undefined if they contain none.
 *
 * @throws `InvalidArgumentError` for an unknown option, or if the value of `owner` is not an owner of this client
 */
export function ownerOf(options: unknown, clientId: string): Owner | undefined {
  return checkedOwner(readLockOptions(options).owner, clientId)
}

/**
 * Returns the owner and the `keepMs` that the options of a plain lock contain. Each is undefined if it is not given.
 *
 * @throws `InvalidArgumentError` as {@link ownerOf}, and for an invalid `keepMs`
 */
export function plainLockOptions(
  options: unknown,
  clientId: string,
): { readonly owner: Owner | undefined; readonly keepMs: number | undefined } {
  const { owner, keepMs } = readPlainLockOptions(options)
  return { owner: checkedOwner(owner, clientId), keepMs }
}

function checkedOwner(owner: unknown, clientId: string): Owner | undefined {
  if (owner === undefined) return undefined
  const one = behind(owner, Owner)
  if (one?.clientId === clientId) return one
  const got = one === undefined ? show(owner) : 'an owner of another client'
  const advice = otherCopy(owner, 'The owner')
  throw new InvalidArgumentError(
    `\`owner\` must come from owner() of the same Holdfast client; got ${got}.${advice ? ` ${advice}.` : ''}`,
  )
}
