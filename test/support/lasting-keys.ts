import type { Redis } from 'ioredis'

/** All keys but those that end at once, which are there to be replicated: see `confirmKey`. */
export async function lastingKeys(admin: Pick<Redis, 'keys'>): Promise<string[]> {
  const keys = await admin.keys('*')
  return keys.filter((key) => !key.startsWith('holdfast_confirm:'))
}
