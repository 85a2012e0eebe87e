import { clientOf } from './owner-id.ts'
import { headOf, headOfIds } from './permit-ids.ts'
import type { KnownTaker } from './permit-pool.ts'
import type { AcquiredPermit, PermitHolder } from './permit-server.ts'

/**
 * Groups the listed permits by their acquisitions, and finds the owner of each acquisition.
 *
 * @param owners the owners that the server knows
 * @param taken the number of all taken permits; `acquired` may list fewer
 */
export function permitHolders(
  acquired: readonly AcquiredPermit[],
  owners: readonly KnownTaker[],
  taken: number,
): PermitHolder[] {
  const known = new Map(owners.map((one) => [headOfIds(one.owner), one]))
  const groups = new Map<string, AcquiredPermit[]>()
  for (const permit of acquired) {
    const head = headOf(permit.id)
    const group = groups.get(head)
    if (group === undefined) groups.set(head, [permit])
    else group.push(permit)
  }
  const last = acquired.length < taken ? headOf(acquired.at(-1)?.id ?? '') : undefined
  return [...groups].map(([head, group]) => {
    const { owner, ageMs, permits } = known.get(head) ?? NO_OWNER
    return {
      owner,
      client: owner && clientOf(owner),
      // The list may contain only some permits of the last acquisition.
      permits: head === last ? (permits ?? group.length) : group.length,
      ids: group.map(({ id }) => id),
      ttlMs: group[0]?.ttlMs ?? null,
      ageMs,
    }
  })
}

const NO_OWNER = { owner: null, ageMs: null, permits: null }
