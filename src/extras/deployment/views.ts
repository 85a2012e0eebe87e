import { type BareRow, look } from './look.ts'
import { merge } from './merge.ts'
import type { Masters } from './open-masters.ts'

/** What each server says of the same keys; of a cluster there is one view, of whoever has each. */
export async function viewsOf(
  masters: Masters,
  keys: readonly string[],
): Promise<(BareRow | null)[][]> {
  if (masters.isQuorum) {
    return Promise.all(masters.all.map((server) => look(server, keys, masters)))
  }
  const rows = new Map<string, BareRow | null>()
  const servers = new Set(keys.map((key) => masters.at(key)))
  const looking = [...servers].map(async (server) => {
    const own = keys.filter((key) => masters.at(key) === server)
    for (const [i, row] of (await look(server, own, masters)).entries()) {
      rows.set(own[i] as string, row)
    }
  })
  await Promise.all(looking)
  return [keys.map((key) => rows.get(key) ?? null)]
}

/** What all views say of one lock together. */
export const merged = ({ count }: Masters, rows: readonly (BareRow | null)[]): BareRow | null =>
  count > 1 ? merge(rows, count) : (rows[0] ?? null)
