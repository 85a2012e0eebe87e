import { HoldfastError } from '../../errors.ts'

/**
 * Code that holds the read lock requested the write lock or the upgradable lock, and would wait for itself. Nothing
 * was changed, and the code still holds the read lock.
 */
export class UpgradeError extends HoldfastError {
  /** @param side the requested lock */
  constructor(lockName: string, side: 'write' | 'upgradable' = 'write') {
    super(
      'HOLDFAST_UPGRADE',
      `Read-write lock "${lockName}": the code that asked for the ${side} lock holds the read lock, so it would wait ` +
        'for itself. It still holds the read lock. There are three ways to write: (1) release the read lock first, then ' +
        'take the write lock and read again; (2) take upgradableLock() instead of readLock(), and call upgrade() on its ' +
        'lease; (3) take the write lock from the start, inside which you may read.',
      { lockName },
    )
  }
}
