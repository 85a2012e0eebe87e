import type { BaseLock } from '../lock/base-lock.ts'
import type { Lock } from '../lock/holdfast-lock.ts'
import type { UpgradableLease } from './upgradable-lease.ts'

/** The forms in which it is acquired. */
type Acquiring = 'lock' | 'tryLock' | 'using' | 'tryUsing'

/** The upgradable side of a read-write lock: a {@link Lock} whose leases have `upgrade()` and `tryUpgrade()`. */
export interface UpgradableLock
  extends Pick<BaseLock<UpgradableLease>, Acquiring>,
    Omit<Lock, Acquiring> {}
