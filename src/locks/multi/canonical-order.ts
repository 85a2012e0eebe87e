import type { CallFailure } from '../../servers/call-failure.ts'
import { silentError } from '../../waiting/no-answer.ts'
import type { OneLock } from '../lock/one-lock.ts'

interface OfLock {
  readonly lock: OneLock
}

/**
 * Sorts locks in an order that all clients share: by server, slot and name. Keeps only one of two
 * equal locks, even if they belong to two clients of one server. If one is shared and the other is
 * exclusive, keeps the exclusive lock. A server without a known identity counts as a separate
 * server, and is sorted by its position in the arguments.
 *
 * @param longestMs the time limit for the requests to all servers, in milliseconds
 * @returns rejects if a server was silent until the time limit, and for longer than usual
 */
export async function inCanonicalOrder<T extends OfLock>(
  all: readonly T[],
  longestMs: number,
): Promise<T[]> {
  const registries = new Map(all.map(({ lock: { registry } }) => [registry.server, registry]))
  const nodes = [...registries.keys()]
  const ids = new Map<unknown, string>()
  if (nodes.length > 1) {
    await Promise.all(
      [...registries].map(async ([node, { limits, clock }]) => {
        const timeoutMs = Math.min(limits.commandTimeoutMs, longestMs)
        // The client usually ignores a failure here, because the later request for the lock reports
        // the failure.
        const requestedAt = clock.monotonic()
        const id = await node.identify(timeoutMs).catch((_: CallFailure) => undefined)
        if (typeof id === 'string') ids.set(node, id)
        if (id !== undefined) return
        const silentMs = clock.monotonic() - requestedAt
        if (silentMs >= longestMs - 1 && silentMs > limits.responseTime.usualMs) {
          const [one] = all.filter(({ lock: { registry } }) => registry.server === node) as [T]
          const what = `not acquired within ${Math.round(longestMs)} ms`
          throw silentError(one.lock.name, what, limits)
        }
        limits.responseTime.missed()
      }),
    )
  }
  const placed = new Map<string, T>()
  for (const one of all) {
    const { registry, rawName } = one.lock
    const server = ids.get(registry.server) ?? nodes.indexOf(registry.server)
    const position = JSON.stringify([server, registry.server.orderOf(rawName), rawName])
    const twin = placed.get(position)
    // An exclusive lock replaces an equal shared lock, because it also keeps out all other owners.
    const isMore = twin?.lock.kind.isShared && !one.lock.kind.isShared
    if (twin === undefined || isMore) placed.set(position, one)
  }
  return [...placed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}
