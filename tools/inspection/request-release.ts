import { type Holdfast, RedisRefusedError, RedisUnavailableError } from '../../src/index.ts'
import type { ReleaseReason } from './inspection.ts'

/** Returns the label of a client that asks holders to release. The holders see the label. */
export const labelOf = ({ by }: ReleaseReason): string => `${by} (npx holdfast)`

/**
 * Asks owners to release the lock, and closes the client.
 *
 * @returns for each owner, true if its client confirmed the request. Rejects with a readable Error
 * if the server does not answer
 */
export async function requestRelease(
  client: Holdfast,
  key: string,
  owners: readonly string[],
  { reason }: ReleaseReason,
): Promise<boolean[]> {
  // Ignores `error` events, because the calls reject with the same errors.
  client.on('error', () => {})
  try {
    const lock = client.getLock(key)
    const requests = owners.map((owner) =>
      lock.requestRelease({ owner, ...(reason !== undefined && { reason }) }),
    )
    return (await Promise.all(requests)).map((confirmed) => confirmed > 0)
  } catch (error) {
    throw errorForUser(error)
  } finally {
    await client.close()
  }
}

/** Returns a readable Error if the server did not answer or refused; otherwise the error itself. */
export function errorForUser(error: unknown): unknown {
  if (!(error instanceof RedisUnavailableError || error instanceof RedisRefusedError)) return error
  return new Error(error.message, { cause: error })
}
