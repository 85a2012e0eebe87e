import type { Lease } from '../lease/lease.ts'
import type { Owner } from '../owner/owner.ts'
import type { Access } from './access.ts'

type Held = Pick<Lease, 'name' | 'released'>

/** For whom a lock object acquires together with others, where each time is an owner of its own. */
const together = new WeakMap<Owner, Access>()

/** A new owner for one acquisition of the lock together with others. */
export function newOwnerTogether(access: Access): Owner {
  const owner = access.desk.newOwner()
  together.set(owner, access)
  return owner
}

/** What the lock object holds for such an owner, whom nobody else acts for; undefined for nothing. */
export function heldTogether(access: Access): Held | undefined {
  const { desk, name, rawName } = access
  const holder = desk.find(rawName)?.holder
  if (!holder || together.get(holder) !== access) return undefined
  // It is not held yet, and may be let go for want of another.
  if (holder.isGathering(rawName)) return undefined
  return {
    name,
    get released() {
      return desk.find(rawName)?.holder !== holder
    },
  }
}

/** What one of the lock objects holds for an owner of its own, by itself or together with others. */
export function heldByAny(accesses: readonly Access[]): Held | undefined {
  for (const access of accesses) {
    const { actor, desk, rawName } = access
    // Whoever acts for somebody re-enters what that one holds.
    if (actor.bare() !== undefined) continue
    const held = desk.holdings.earliest(actor.holderFor(undefined), rawName)
    if (held?.valid) return held
    const other = heldTogether(access)
    if (other !== undefined) return other
  }
  return undefined
}
