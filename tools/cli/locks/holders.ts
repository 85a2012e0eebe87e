import type { HolderRow, LockRow } from '../../inspection/inspection.ts'
import { candidateLabel } from '../../inspection/owner-ids.ts'
import { duration, escaped } from '../text/words.ts'

/**
 * Returns a short name of the holder: the label of the candidate, the label of the client, or the
 * owner.
 */
export function holderName({
  owner,
  process,
  isRedisson,
}: Pick<HolderRow, 'owner' | 'process' | 'isRedisson'>): string {
  const label = candidateLabel(owner) ?? process?.label
  if (label !== undefined) return escaped(label)
  return isRedisson ? `Redisson ${escaped(owner)}` : escaped(owner)
}

/** Returns the first holder and the number of other holders, for one cell of a table. */
export function holdersText({ holders }: LockRow): string {
  const [first, ...others] = holders
  if (first === undefined) return '-'
  return others.length === 0 ? holderName(first) : `${holderName(first)} +${others.length}`
}

/** Returns the time until the last lease ends, if no lease is renewed. */
export function leaseText({ holders }: LockRow): string {
  if (holders.length === 0) return '-'
  if (holders.some(({ ttlMs }) => ttlMs === null)) return 'no expiry'
  return duration(Math.max(...holders.map(({ ttlMs }) => ttlMs as number)))
}

/** Returns how long the oldest hold has lasted. */
export function ageText({ holders }: LockRow): string {
  const ages = holders.flatMap(({ ageMs }) => ageMs ?? [])
  return ages.length === 0 ? '-' : duration(Math.max(...ages))
}
