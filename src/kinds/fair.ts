import { show } from '../kit/show.ts'
import { FairLocks } from '../locks/fair/fair-locks.ts'
import { HoldfastLock, handleOf, type Lock } from '../locks/lock/holdfast-lock.ts'
import type { GetLockOptions } from '../options/lock-object.ts'
import { ownerOf } from '../owner/owner.ts'
import { FAIR } from '../servers/fair-server.ts'
import { type KindDescriptor, needsOneServer } from './kind.ts'

export interface FairMethods {
  /**
   * Returns a re-entrant FIFO lock: all clients acquire the lock in the order of their calls. The fair lock and the
   * `getLock` lock of the same name exclude each other. Callers of `getLock` and of Redisson do not wait in the queue:
   * they may acquire the lock when it is free.
   *
   * A process keeps its place in the queue while it runs. If the process crashes, the queue skips its place. If a
   * process at the head of the queue crashes or is frozen, it can delay the queue by up to about 5 s.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name or option, and with `masters`, because one server must hold the
   * queue
   */
  getFairLock(name: string, options?: GetLockOptions): Lock
}

/** The methods of fair locks, with one more method that elections use. */
interface Methods extends FairMethods {
  fairLock(name: string, options?: GetLockOptions, what?: string): HoldfastLock
}

/** @internal */
export const fair: KindDescriptor<Methods> = {
  names: ['getFairLock'],
  requests: FAIR,
  open({ owners: { clientId }, backend: { registry }, requests, rawName }) {
    const { server, clock } = registry
    const remote = requests(FAIR)
    const locks = remote && new FairLocks(server, remote, clock)
    const fairLock = (name: string, options: GetLockOptions = {}, what?: string) => {
      const key = rawName(name, what)
      if (locks === undefined) {
        throw needsOneServer(
          `Fair lock ${show(name)}: its queue needs one server`,
          'Use getLock() here, or a',
          name,
          registry.limits.words,
        )
      }
      return new HoldfastLock(name, key, ownerOf(options, clientId), registry, locks)
    }
    return {
      methods: { fairLock, getFairLock: (name, options) => handleOf(fairLock(name, options)) },
      stopHeartbeat: () => locks?.stopHeartbeat(),
    }
  },
}
