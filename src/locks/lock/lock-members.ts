/** The members that users have of every lock. */
export const BASE_MEMBERS = ['name', 'lock', 'tryLock', 'using', 'tryUsing', 'unlock'] as const

/** The public members of one lock. */
export const LOCK_MEMBERS = [
  ...BASE_MEMBERS,
  'isLocked',
  'isHeld',
  'holdCount',
  'remainingMs',
  'forceUnlock',
  'inspect',
  'why',
  'whenFree',
  'onFree',
  'requestRelease',
] as const

/**
 * How messages name a lock, and what they give instead of the methods of other libraries.
 *
 * @internal
 */
export const LOCK_NAMING = {
  variable: 'lock',
  instead: {
    acquire: 'lock() or tryLock()',
    extend: 'extend() of the lease that lock() and tryLock() return',
    release: 'unlock(), or release() of the lease that lock() and tryLock() return',
  },
}
