import { unavailableError } from '../../errors.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { OneLock } from '../lock/one-lock.ts'

/** An item about one lock. */
interface OfLock {
  readonly lock: OneLock
}

/**
 * Sorts locks in an order that all clients share: by server, slot and name. A lock that is given
 * twice is kept once, even if it is given through two clients of one server. A shared lock is left
 * out beside an exclusive one. If a server does not report its identity, it is sorted by its
 * position, and counts as another server.
 *
 * @param longestMs the time limit for all of this, in milliseconds
 * @returns rejects if that time ended while a server was silent for longer than usual
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
        // A server that cannot be asked reports its failure at the request for the lock.
        const askedAt = clock.monotonic()
        const id = await node.identify(timeoutMs).catch((_: CallFailure) => undefined)
        if (typeof id === 'string') ids.set(node, id)
        if (id !== undefined) return
        const silentMs = clock.monotonic() - askedAt
        if (silentMs >= longestMs - 1 && silentMs > limits.responseTime.usualMs) {
          const [one] = all.filter(({ lock: { registry } }) => registry.server === node) as [T]
          const what = `not acquired within ${Math.round(longestMs)} ms`
          throw unavailableError(one.lock.name, what, 'Redis gave no answer')
        }
        limits.responseTime.missed()
      }),
    )
  }
  const placed = new Map<string, T>()
  for (const one of all) {
    const { registry, rawName } = one.lock
    const server = ids.get(registry.server) ?? nodes.indexOf(registry.server)
    const place = JSON.stringify([server, registry.server.orderOf(rawName), rawName])
    const twin = placed.get(place)
    // An exclusive lock includes the shared lock.
    const isMore = twin?.lock.kind.isShared && !one.lock.kind.isShared
    if (twin === undefined || isMore) placed.set(place, one)
  }
  return [...placed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}
