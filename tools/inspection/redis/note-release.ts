import { randomUUID } from 'node:crypto'
import { HISTORY_KEY } from '../../history/entry.ts'
import type { SeenHolder } from '../inspection.ts'
import type { Masters } from './masters.ts'

/**
 * Records the forced release in the history with the default key, if the stream exists. Never
 * rejects.
 */
export async function noteRelease(
  masters: Masters,
  key: string,
  { owner, token }: SeenHolder,
  by: string | undefined,
): Promise<void> {
  const reason = by === undefined ? '' : `by ${by}`
  const entry = { event: 'forced', name: key, owner, token: token ?? '', reason }
  const fields = Object.entries({ ...entry, seq: randomUUID() }).flat()
  try {
    await masters.at(HISTORY_KEY).send('XADD', HISTORY_KEY, 'NOMKSTREAM', '*', ...fields)
  } catch {
    // Ignores the error, because the lock is already released.
  }
}
