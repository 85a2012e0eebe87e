export function sideOf(owner: string): 'read' | 'write' | 'upgradable' {
  if (owner.endsWith(':upgradable')) return 'upgradable'
  return owner.endsWith(':write') ? 'write' : 'read'
}

export const withoutSide = (owner: string): string => owner.replace(/:(write|upgradable)$/, '')
