import type { Redis } from 'ioredis'

/**
 * All keys of locks but those that end at once, which are there to be replicated: see `confirmKey`. Nor those in which
 * clients tell who they are, until they are closed.
 */
export async function lastingKeys(admin: Pick<Redis, 'keys'>, pattern = '*'): Promise<string[]> {
  const keys = await admin.keys(pattern)
  return keys.filter((key) => !/^holdfast_(confirm|client):/.test(key))
}
