/** Returns the client id with which the id of an owner or a waiter begins. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/**
 * True if the text is an owner id, which contains the id of a client. False for the id of a permit.
 */
export const hasClient = (owner: string): boolean => owner.includes(':')

/**
 * Returns the label of a candidate of an election. Null for other owners, and for a label that
 * cannot be decoded.
 */
export function candidateLabel(owner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(owner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/**
 * True if the text is the id of a permit. If the owner of a permit is unknown, the id of the permit
 * is used as owner id.
 */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/**
 * Returns the ids of the permits that a forced release ends.
 *
 * @param owner an owner, or the id of one permit
 */
export function permitsOf(
  owner: string,
  holders: readonly { readonly owner: string; readonly permits: readonly string[] }[],
): readonly string[] {
  const holder = holders.find((one) => one.owner === owner)
  return holder?.permits ?? (isPermitId(owner) ? [owner] : [])
}
