import { HoldfastError } from '../../errors.ts'

/**
 * Who has a read-write lock to read asked for it to write, and would wait for itself. Nothing was changed, and
 * it reads on.
 */
export class UpgradeError extends HoldfastError {
  constructor(lockName: string) {
    super(
      'HOLDFAST_UPGRADE',
      `Read-write lock "${lockName}" is held to read by the code that asks for more, which would wait for ` +
        'itself. Release the read lock before; or take the upgradable lock instead of it, or the write lock, ' +
        'inside both of which you may read.',
      { lockName },
    )
  }
}
