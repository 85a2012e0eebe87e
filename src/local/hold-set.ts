import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { Owner } from '../owner/owner.ts'

const NONE: readonly Hold[] = []

/**
 * Who has one lock in one client: several owners by holds of shared kinds, or one by a hold of an
 * exclusive kind. An owner may have both, and nobody else has any then.
 */
export class HoldSet {
  #exclusive: Hold | undefined
  /** Most locks never have any. */
  #shared: Set<Hold> | undefined

  get exclusive(): Hold | undefined {
    return this.#exclusive
  }

  /** All of them: none is released, or known to be lost. */
  get all(): Hold[] {
    const shared = this.#shared ?? NONE
    return this.#exclusive === undefined ? [...shared] : [this.#exclusive, ...shared]
  }

  get isEmpty(): boolean {
    return this.#exclusive === undefined && !this.#shared?.size
  }

  /** The hold that an acquisition of that kind re-enters for this owner. */
  of(owner: Owner, { isShared, isCounted }: HoldKind): Hold | undefined {
    if (isCounted) return undefined
    if (!isShared) return this.#exclusive?.owner === owner ? this.#exclusive : undefined
    for (const hold of this.#shared ?? NONE) if (hold.owner === owner) return hold
    return undefined
  }

  /** The hold that the owner has as another kind than the one it asks for. */
  beside({ owner, kind }: Pick<Hold, 'owner' | 'kind'>): Hold | undefined {
    if (this.isEmpty || kind.isCounted) return undefined
    return this.all.find((hold) => hold.owner === owner && hold.kind.isShared !== kind.isShared)
  }

  /** Whether a request has to wait for one of them: for another owner's, unless both are of shared kinds. */
  keepsOut({ owner, kind }: Pick<Hold, 'owner' | 'kind'>): boolean {
    if (this.#exclusive !== undefined && this.#exclusive.owner !== owner) return true
    if (kind.isShared) return false
    for (const hold of this.#shared ?? NONE) if (hold.owner !== owner) return true
    return false
  }

  /** Those that are over when this one was granted. */
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

  /** @returns whether it was among them */
  protected remove(hold: Hold): boolean {
    if (this.#exclusive !== hold) return this.#shared?.delete(hold) ?? false
    this.#exclusive = undefined
    return true
  }
}
