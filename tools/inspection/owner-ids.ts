/** Returns the client id at the start of the id of an owner or a waiter. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** True if the text contains a client id, as an owner id does. False for the id of a permit. */
export const hasClient = (owner: string): boolean => owner.includes(':')

/**
 * Returns the label of a candidate of an election. Null for other owners, and for an invalid label.
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

/** True if the text is the id of a permit. A permit of an unknown owner has this id as owner id. */
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
