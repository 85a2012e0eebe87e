import type { OwnerHandle as Owner } from '../owner/owner.ts'

/** The options that `getLock`, `getFairLock` and `getReadWriteLock` have in common. */
export interface GetLockOptions {
  /**
   * An owner from `holdfast.owner()`, for all acquisitions through this object. Without this option, the frame in which
   * the code runs decides the owner. Outside all frames, each acquisition has its own owner.
   */
  owner?: Owner
}

/** The options of `getLock` for plain locks. */
export interface PlainLockOptions extends GetLockOptions {
  /**
   * How long the client keeps the lock after a release, in milliseconds, if no call waits for it. A call of this client
   * then acquires the lock again without a request, and gets a new token. A call of another client that finds the kept
   * lock asks this client to free it. 0 means not at all.
   *
   * @default the `keepMs` of the client
   */
  keepMs?: number
}
