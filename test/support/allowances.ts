/** A resource type as `process.getActiveResourcesInfo()` names it. */
export type ResourceType =
  | 'TCPSocketWrap'
  | 'TCPServerWrap'
  | 'PipeWrap'
  | 'ProcessWrap'
  | 'Timeout'

type Count = () => number

const allowances = new Set<{ type: string; count: Count }>()

/**
 * Excludes resources of the test support, such as the sockets of a proxy or an admin client, from the leak check.
 * `count` returns how many are open now. Returns a function that ends the exclusion.
 */
export function allow(type: ResourceType, count: Count): () => void {
  const allowance = { type, count }
  allowances.add(allowance)
  return () => allowances.delete(allowance)
}

/** Active resources by type, without the resources of the test support. */
export function activeResources(): Map<string, number> {
  const active = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    active.set(type, (active.get(type) ?? 0) + 1)
  }
  for (const { type, count } of allowances) active.set(type, (active.get(type) ?? 0) - count())
  return active
}

interface MaybeOpen {
  destroyed: boolean
}

/** Returns 1 while the socket is open, otherwise 0. */
export const openSocket = (socket: MaybeOpen | undefined | null): number =>
  socket && !socket.destroyed ? 1 : 0
