export { clientOf, labelIn, mayBeKept } from '../../src/servers/owner-id.ts'

/** True if the text contains a client id, as an owner id does. False for the id of a permit. */
export const hasClient = (owner: string): boolean => owner.includes(':')

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
