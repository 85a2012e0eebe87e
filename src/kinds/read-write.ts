import { refuseDetached } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { ReadWriteKinds } from '../locks/read-write/read-write-kinds.ts'
import { HoldfastReadWriteLock, type ReadWriteLock } from '../locks/read-write/read-write-lock.ts'
import { ReadWriteSides } from '../locks/read-write/read-write-sides.ts'
import type { GetLockOptions } from '../options/lock-object.ts'
import { ownerOf } from '../owner/owner.ts'
import { READ_WRITE } from '../servers/read-write-server.ts'
import { type KindDescriptor, needsOneServer } from './kind.ts'

export interface ReadWriteMethods {
  /**
   * Returns a lock that many readers hold together, or one writer alone.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name or option, and with `masters`, because one server must know all
   * waiters
   */
  getReadWriteLock(name: string, options?: GetLockOptions): ReadWriteLock
}

/** @internal */
export const readWrite: KindDescriptor<ReadWriteMethods> = {
  names: ['getReadWriteLock'],
  requests: READ_WRITE,
  open({ owners: { clientId }, backend: { registry: locks }, requests, rawName: keyOf }) {
    const remote = requests(READ_WRITE)
    const kinds = remote && new ReadWriteKinds(remote)
    const getReadWriteLock = (name: string, options: GetLockOptions = {}) => {
      const rawName = keyOf(name)
      if (kinds === undefined) {
        throw needsOneServer(
          `Read-write lock ${show(name)}: it needs one server`,
          'Use getLock() here, or a',
          name,
          locks.limits.words,
        )
      }
      const owner = ownerOf(options, clientId)
      const sides = new ReadWriteSides({ name, rawName, owner, locks, kinds })
      return new HoldfastReadWriteLock(name, sides)
    }
    return { methods: { getReadWriteLock } }
  },
}

refuseDetached(HoldfastReadWriteLock, 'readWriteLock')
