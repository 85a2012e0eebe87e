/** Returns the client id with which the id of an owner or a waiter begins. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** True if the id of an owner contains its client. The id of a permit does not. */
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
 * True if the text is the id of a permit. The id stands for an unknown owner, for example of an
 * older version of Holdfast.
 */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/**
 * Returns the permits that a forced release ends.
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
