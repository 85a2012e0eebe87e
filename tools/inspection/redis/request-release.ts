import { Holdfast, RedisRefusedError, RedisUnavailableError } from '../../../src/index.ts'
import { clientOf } from '../../servers/redis-of.ts'
import type { Where } from '../../servers/where.ts'
import type { ReleaseReason } from '../inspection.ts'

/**
 * Asks owners to release the lock, as a client of these servers.
 *
 * @param timeoutMs the time limit of each request, in milliseconds
 * @returns for each owner, true if its client confirmed the request
 */
export async function requestRelease(
  where: Where,
  timeoutMs: number,
  key: string,
  owners: readonly string[],
  { by, reason }: ReleaseReason,
): Promise<boolean[]> {
  const client = new Holdfast({
    ...clientOf(where),
    label: `${by} (npx holdfast)`,
    presence: false,
    commandTimeoutMs: timeoutMs,
    outageMs: 2 * timeoutMs,
  })
  // The calls reject with the same errors, so events of errors need no output.
  client.on('error', () => {})
  try {
    const lock = client.getLock(key)
    const requests = owners.map((owner) =>
      lock.requestRelease({ owner, ...(reason !== undefined && { reason }) }),
    )
    return (await Promise.all(requests)).map((confirmed) => confirmed > 0)
  } catch (error) {
    if (!(error instanceof RedisUnavailableError || error instanceof RedisRefusedError)) throw error
    throw new Error(error.message, { cause: error })
  } finally {
    await client.close()
  }
}
