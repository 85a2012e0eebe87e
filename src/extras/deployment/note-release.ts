import { randomUUID } from 'node:crypto'
import type { Masters } from './masters.ts'
import type { SeenHolder } from './rows.ts'

/** Where `holdfast/history` writes, unless it is told otherwise. */
const HISTORY = 'holdfast_history'

/** Writes down in the history, where there is one, who took a lock from whom. What is refused there fails nothing. */
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
    await masters.at(HISTORY).ask('XADD', HISTORY, 'NOMKSTREAM', '*', ...fields)
  } catch {
    // The lock is released all the same.
  }
}
