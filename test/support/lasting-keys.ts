import type { Redis } from 'ioredis'

/**
 * All keys of locks, without those that are there only to be replicated (see `confirmKey`), those in which clients tell
 * who they are until they are closed, and the notes which kind a number is of.
 */
export async function lastingKeys(admin: Pick<Redis, 'keys'>, pattern = '*'): Promise<string[]> {
  const keys = await admin.keys(pattern)
  return keys.filter((key) => !/^holdfast_(confirm|client|kind):/.test(key))
}
