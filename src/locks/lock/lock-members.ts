/** The public members of every lock, including a multi-lock. */
export const BASE_MEMBERS = ['name', 'lock', 'tryLock', 'using', 'tryUsing', 'unlock'] as const

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
 * For error messages: the variable name of a lock, and its methods to use instead of methods of
 * other libraries.
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
