/** Returns the side of a read-write lock that the owner holds. */
export function sideOf(owner: string): 'read' | 'write' | 'upgradable' {
  if (owner.endsWith(':upgradable')) return 'upgradable'
  return owner.endsWith(':write') ? 'write' : 'read'
}

/** Returns the id of the owner without the side of a read-write lock. */
export const withoutSide = (owner: string): string => owner.replace(/:(write|upgradable)$/, '')
