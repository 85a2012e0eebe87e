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
 * Excuses resources of the support itself (a proxy's sockets, an admin client) from the leak check.
 * `count` says how many are open right now. Returns a way to withdraw.
 */
export function allow(type: ResourceType, count: Count): () => void {
  const allowance = { type, count }
  allowances.add(allowance)
  return () => allowances.delete(allowance)
}

/** Active resources by type, without those that belong to the support. */
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

/** 1 while the socket is open, 0 otherwise: the usual count of an allowance. */
export const openSocket = (socket: MaybeOpen | undefined | null): number =>
  socket && !socket.destroyed ? 1 : 0
