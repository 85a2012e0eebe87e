import { unavailableError } from '../../errors.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { OneLock } from '../lock/one-lock.ts'

/** What is put in order: something that is about one lock. */
interface OfLock {
  readonly lock: OneLock
}

/**
 * Puts locks in an order that all clients keep: by server, slot and name. A lock that is there
 * twice, be it through two clients of one server, is left out the second time, or the one that is to be shared. Where a server does
 * not say which it is, it stands where it was given, and counts as another.
 *
 * @param longestMs how long all of it may take
 * @returns rejects where that time was up while a server was silent for longer than it is as a rule
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
        // One that cannot be asked says so when it is asked for the lock.
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
    // Who has it alone has it to share as well.
    const isMore = twin?.lock.kind.isShared && !one.lock.kind.isShared
    if (twin === undefined || isMore) placed.set(place, one)
  }
  return [...placed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}
