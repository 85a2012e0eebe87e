import type { Redis } from 'ioredis'

/**
 * Returns all keys of locks. It leaves out keys that exist only for replication (see `confirmKey`), the data of
 * clients, and the kinds of numbers.
 */
export async function lastingKeys(admin: Pick<Redis, 'keys'>, pattern = '*'): Promise<string[]> {
  const keys = await admin.keys(pattern)
  return keys.filter((key) => !/^holdfast_(confirm|client|kind):/.test(key))
}
