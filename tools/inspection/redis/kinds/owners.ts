/** Matches an owner id of Holdfast, which begins with `<clientId>:<number>`. */
const OURS = /^[\w-]{21}:\d+(\/\d+)?(~.*)?(:write|:upgradable)?$/s
/** Matches an owner id of Redisson: `<uuid>:<thread>`. */
const REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+(:write)?$/

export const isRedissons = (owner: string): boolean => REDISSON.test(owner)

/**
 * True if the owner is a candidate of an election. Only a candidate has a label, which follows `~`.
 */
export const isCandidates = (owner: string): boolean => OURS.test(owner) && owner.includes('~')

/** True if the hash of a lock may have this field: an owner, or `mode`. */
export const isOfLock = (field: string): boolean =>
  field === 'mode' || OURS.test(field) || REDISSON.test(field)

/** True if these are the fields of a held lock: one or more owners, and possibly `mode`. */
export const isHeldLock = (fields: readonly string[]): boolean =>
  fields.some((field) => field !== 'mode') && fields.every(isOfLock)
