import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { Owner } from '../owner/owner.ts'

const NONE: readonly Hold[] = []

/**
 * The holds of one lock in one client: several shared holds, or one exclusive hold. The owner of
 * the exclusive hold may also have a shared hold. Then no other owner has a hold.
 */
export class HoldSet {
  #exclusive: Hold | undefined
  /** Created on first use, because most locks never have shared holds. */
  #shared: Set<Hold> | undefined

  get exclusive(): Hold | undefined {
    return this.#exclusive
  }

  /** The holds that are neither released nor known to be lost. */
  get all(): Hold[] {
    const shared = this.#shared ?? NONE
    return this.#exclusive === undefined ? [...shared] : [this.#exclusive, ...shared]
  }

  get isEmpty(): boolean {
    return this.#exclusive === undefined && !this.#shared?.size
  }

  /**
   * Returns the hold that a request of this owner and kind re-enters. Undefined if there is no such
   * hold. Permits never re-enter.
   */
  of(owner: Owner, { isShared, isCounted }: HoldKind): Hold | undefined {
    if (isCounted) return undefined
    if (!isShared) return this.#exclusive?.owner === owner ? this.#exclusive : undefined
    for (const hold of this.#shared ?? NONE) if (hold.owner === owner) return hold
    return undefined
  }

  /**
   * Returns the owner's shared hold for an exclusive request, or the owner's exclusive hold for a
   * shared request. Undefined if there is no such hold.
   */
  beside({ owner, kind }: Pick<Hold, 'owner' | 'kind'>): Hold | undefined {
    if (this.isEmpty || kind.isCounted) return undefined
    return this.all.find((hold) => hold.owner === owner && hold.kind.isShared !== kind.isShared)
  }

  /**
   * True if a hold of another owner prevents this request. Shared holds do not prevent shared
   * requests.
   */
  excludes({ owner, kind }: Pick<Hold, 'owner' | 'kind'>): boolean {
    if (this.#exclusive !== undefined && this.#exclusive.owner !== owner) return true
    if (kind.isShared) return false
    for (const hold of this.#shared ?? NONE) if (hold.owner !== owner) return true
    return false
  }

  /** Returns the holds that must have ended, because the server has granted this hold. */
  protected notBeside({ owner, kind }: Hold): Hold[] {
    return this.all.filter((hold) => {
      if (kind.isShared && hold.kind.isShared) return false
      return hold.owner !== owner || kind.isShared === hold.kind.isShared
    })
  }

  protected add(hold: Hold): void {
    if (hold.kind.isShared) {
      this.#shared ??= new Set()
      this.#shared.add(hold)
    } else this.#exclusive = hold
  }

  /** Returns true if the hold was in the set. */
  protected remove(hold: Hold): boolean {
    if (this.#exclusive !== hold) return this.#shared?.delete(hold) ?? false
    this.#exclusive = undefined
    return true
  }
}
