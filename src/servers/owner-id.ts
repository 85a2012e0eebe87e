/** Returns the client id in `<clientId>:<owner>`. Returns a client id itself unchanged. */
export function clientOf(clientOrOwner: string): string {
  const colon = clientOrOwner.indexOf(':')
  return colon === -1 ? clientOrOwner : clientOrOwner.slice(0, colon)
}

/** True for an owner id of Holdfast. An owner id of Redisson begins with a UUID. */
export function isOfHoldfast(owner: string): boolean {
  return /^[\w-]{21}:/.test(owner)
}

/** Groups the owners by client. Leaves out owners of Redisson, because its clients receive no messages of Holdfast. */
export function ownersByClient(owners: readonly string[]): Map<string, string[]> {
  const all = new Map<string, string[]>()
  for (const owner of new Set(owners)) {
    if (!isOfHoldfast(owner)) continue
    const client = clientOf(owner)
    all.set(client, [...(all.get(client) ?? []), owner])
  }
  return all
}

/** True for an owner id of an attempt with `keepMs`: the number of the attempt begins with 0. */
export function mayBeKept(owner: string): boolean {
  return owner.includes('/0')
}

/** Returns the text that follows the number of the owner in a candidate's owner id. */
export function labelSuffix(label: string): string {
  return `~${encodeURIComponent(label)}`
}

/** Returns the label in the owner id of a candidate; null if the owner is not a candidate. */
export function labelIn(ownerId: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(ownerId) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/** How an owner holds a read-write lock. */
export type LockSide = 'read' | 'upgradable' | 'write'

/**
 * The end of an owner id, for each side. Redisson also ends the owner id of a writer with `:write`.
 */
const ENDS: Readonly<Record<LockSide, string>> = {
  read: '',
  upgradable: ':upgradable',
  write: ':write',
}

/**
 * Returns the owner id for one side of a read-write lock. The end of the id shows the side to
 * scripts.
 */
export function sideId(id: string, side: LockSide): string {
  return id + ENDS[side]
}

export function sideOf(owner: string): LockSide {
  if (isWriter(owner)) return 'write'
  return isUpgradable(owner) ? 'upgradable' : 'read'
}

export function isWriter(owner: string): boolean {
  return owner.endsWith(ENDS.write)
}

/**
 * True for an owner id of the upgradable side, and for the place of a client that waits for this
 * side.
 */
export function isUpgradable(owner: string): boolean {
  return owner.endsWith(ENDS.upgradable)
}

/** Returns the owner id for an acquisition of permits. The id ends with the number of permits. */
export function permitsId(id: string, permits: number): string {
  return `${id}:${permits}`
}

export function permitsOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1))
}
