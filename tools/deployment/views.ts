import { type BareDetail, conclude } from './conclude.ts'
import type { Masters } from './masters.ts'
import { merge } from './merge.ts'
import { readKeys } from './read-keys.ts'

/**
 * Reads the locks. With a quorum, returns a list for each master. Otherwise returns a single list,
 * with null for a lock that does not exist or whose node cannot be reached.
 */
export async function viewsOf(
  masters: Masters,
  keys: readonly string[],
): Promise<(BareDetail | null)[][]> {
  const { isQuorum } = masters
  const read = async (server: (typeof masters.all)[number], own: readonly string[]) =>
    (await readKeys(server, own, masters)).map((raw) => conclude(raw, isQuorum))
  if (isQuorum) return Promise.all(masters.all.map((server) => read(server, keys)))
  const details = new Map<string, BareDetail | null>()
  const servers = new Set(keys.flatMap((key) => masters.find(key) ?? []))
  const reading = [...servers].map(async (server) => {
    const own = keys.filter((key) => masters.find(key) === server)
    for (const [i, detail] of (await read(server, own)).entries()) {
      details.set(own[i] as string, detail)
    }
  })
  await Promise.all(reading)
  return [keys.map((key) => details.get(key) ?? null)]
}

/** Merges the views of all masters on one lock. Without a quorum, returns the only view. */
export const merged = (
  { count }: Masters,
  details: readonly (BareDetail | null)[],
): BareDetail | null => (count > 1 ? merge(details, count) : (details[0] ?? null))
