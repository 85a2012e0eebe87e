import { HoldfastError } from '../../errors.ts'

/**
 * Code that holds the read lock requested the write lock or the upgradable lock, and would wait for itself. The request
 * changed nothing, and the code still holds the read lock.
 */
export class UpgradeError extends HoldfastError {
  /** @param side the requested lock */
  constructor(lockName: string, side: 'write' | 'upgradable' = 'write') {
    super(
      'HOLDFAST_UPGRADE',
      `Read-write lock "${lockName}": the code that requested the ${side} lock holds the read lock, so it would wait ` +
        'for itself. It still holds the read lock. There are three ways to write. 1. Release the read lock first, then ' +
        'take the write lock and read again. 2. Take upgradableLock() instead of readLock(), and call upgrade() on its ' +
        'lease. 3. Take the write lock from the start: its holder may read too.',
      { lockName },
    )
  }
}
