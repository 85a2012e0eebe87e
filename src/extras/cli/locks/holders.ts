import type { HolderRow, LockRow } from '../../deployment/rows.ts'
import { duration, escaped } from '../text/words.ts'

/** Who has a lock, as short as that can be told. */
export function holderName({
  owner,
  process,
  isRedisson,
}: Pick<HolderRow, 'owner' | 'process' | 'isRedisson'>): string {
  if (process !== null) return escaped(process.label)
  return isRedisson ? `Redisson ${escaped(owner)}` : escaped(owner)
}

/** All who have it, for one cell of a table. */
export function holdersText({ holders }: LockRow): string {
  const [first, ...others] = holders
  if (first === undefined) return '-'
  return others.length === 0 ? holderName(first) : `${holderName(first)} +${others.length}`
}

/** How long the lock stays held when nobody renews it. */
export function leaseText({ holders }: LockRow): string {
  if (holders.length === 0) return '-'
  if (holders.some(({ ttlMs }) => ttlMs === null)) return 'no expiry'
  return duration(Math.max(...holders.map(({ ttlMs }) => ttlMs as number)))
}

/** Since when it has been held, where one has it alone. */
export function ageText({ holders }: LockRow): string {
  const ageMs = holders.length === 1 ? holders[0]?.ageMs : null
  return ageMs === null || ageMs === undefined ? '-' : duration(ageMs)
}
