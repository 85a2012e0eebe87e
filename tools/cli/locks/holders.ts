import type { HolderRow, LockRow } from '../../inspection/inspection.ts'
import { labelIn } from '../../inspection/owner-ids.ts'
import { duration, escaped } from '../text/words.ts'

/**
 * Returns a short name of the holder: the label of its candidate; otherwise the label of its
 * client; otherwise the owner id.
 */
export function holderName({
  owner,
  process,
  isRedisson,
}: Pick<HolderRow, 'owner' | 'process' | 'isRedisson'>): string {
  const label = labelIn(owner) ?? process?.label
  if (label !== undefined) return escaped(label)
  return isRedisson ? `Redisson ${escaped(owner)}` : escaped(owner)
}

/**
 * Returns the name of the first holder and the number of other holders, or `-` if the lock has no
 * holder.
 */
export function holdersText({ holders }: LockRow): string {
  const [first, ...others] = holders
  if (first === undefined) return '-'
  return others.length === 0 ? holderName(first) : `${holderName(first)} +${others.length}`
}

/**
 * Returns the longest remaining time of the leases. Returns `no expiry` if a lease never expires,
 * and `-` without a holder.
 */
export function leaseText({ holders }: LockRow): string {
  if (holders.length === 0) return '-'
  if (holders.some(({ ttlMs }) => ttlMs === null)) return 'no expiry'
  return duration(Math.max(...holders.map(({ ttlMs }) => ttlMs as number)))
}

/** Returns the longest known age of a hold, or `-` if no age is known. */
export function ageText({ holders }: LockRow): string {
  const ages = holders.flatMap(({ ageMs }) => ageMs ?? [])
  return ages.length === 0 ? '-' : duration(Math.max(...ages))
}
