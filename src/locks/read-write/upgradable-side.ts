import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { type Acquisition, tryLockArguments, usingOptions } from '../../options/acquisition.ts'
import type { LockOptions, TryLockOptions } from '../../options/options.ts'
import { Side, type WholeLock } from './side.ts'
import type { Upgrader } from './upgradable-lease.ts'

/** The upgradable side of a read-write lock, whose leases take the write lock for the same owner. */
export class UpgradableSide extends Side implements Upgrader {
  readonly #writing: Side

  constructor(whole: WholeLock, writing: Side) {
    super(whole, whole.kinds.upgrading)
    this.#writing = writing
  }

  /** @internal */
  upgrade(hold: Hold, options: LockOptions | undefined, released: AbortSignal): Promise<Lease> {
    const meant = until(released, usingOptions(options, this.registry.defaults))
    return this.#writing.orTimeout(this.#acquire(hold, meant), meant, hold.owner)
  }

  /** @internal */
  tryUpgrade(
    hold: Hold,
    options: TryLockOptions | undefined,
    released: AbortSignal,
  ): Promise<Lease | null> {
    const meant = tryLockArguments(options, undefined, [], this.registry.defaults)
    return this.#acquire(hold, until(released, meant))
  }

  #acquire({ owner }: Hold, meant: Acquisition): Promise<Lease | null> {
    this.#writing.assertPossible(meant)
    return this.#writing.acquire(owner, meant, { scoped: false })
  }
}

/** The same acquisition, which also ends when the upgradable lease is released. */
function until(released: AbortSignal, meant: Acquisition): Acquisition {
  const { signal } = meant
  return { ...meant, signal: signal ? AbortSignal.any([signal, released]) : released }
}
