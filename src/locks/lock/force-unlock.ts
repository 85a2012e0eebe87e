import type { LocalLocks } from '../../local/local-locks.ts'

/**
 * Ends the hold that the first request finds. A later hold stays, even if the client repeats the
 * request.
 *
 * @returns true if the first request found a hold
 */
export async function forceUnlock({
  name,
  rawName,
  registry,
}: {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
}): Promise<boolean> {
  const remote = registry.server.lock(rawName)
  const request = <T>(call: (callMs: number) => Promise<T>) =>
    registry.request(name, 'not confirmed to be unlocked by force', call)
  const seen = await request((callMs) => remote.seen(callMs))
  if (seen === null) return false
  // Without this request, a client that keeps the lock could still pass it to its next call after the forced release.
  if (await registry.revocations.freeKept(rawName, seen.owner)) return true
  await request((callMs) => remote.forceRelease(seen, callMs))
  registry.find(rawName)?.forced(seen)
  return true
}
