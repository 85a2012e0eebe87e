import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { sidesOf, type Watchable } from '../../local/free-watches.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import { type Acquisition, tryLockArguments, usingOptions } from '../../options/acquisition.ts'
import type { LockOptions, TryLockOptions } from '../../options/options.ts'
import type { LeaseHolder } from '../../owner/lease-holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, ReadWriteHolder } from '../../servers/facts.ts'
import type {
  ReadWriteServer,
  ReadWriteState,
  RemoteReadWriteLock,
  SideHolder,
} from '../../servers/read-write-server.ts'
import type { FreeCheck } from '../../waiting/free-watchers.ts'
import { HoldfastLock, type LockInfo } from '../lock/holdfast-lock.ts'
import type { InnerOptions } from '../lock/one-lock.ts'
import type { Upgrader } from './upgradable-lease.ts'
import { UpgradeError } from './upgrade-error.ts'

interface Kinds {
  readonly reading: LockKind
  readonly upgrading: LockKind
  readonly writing: LockKind
  readonly server: ReadWriteServer
}

export interface WholeLock {
  readonly name: string
  readonly rawName: string
  readonly owner: Owner | undefined
  readonly locks: LocalLocks
  readonly kinds: Kinds
}

/**
 * The members that all sides of one lock share. The client warns about self-waits of `whole` at
 * most once.
 */
interface OneObject {
  readonly number: number
  readonly whole: object
}

/** One side of a read-write lock: the lock that readers, writers or holders of the upgradable lock acquire. */
export class Side extends HoldfastLock {
  readonly #kinds: Kinds
  readonly #remote: RemoteReadWriteLock
  readonly #whole: object

  constructor(lock: WholeLock & OneObject, kind: LockKind) {
    const { name, rawName, owner, locks, kinds, number, whole } = lock
    super(name, rawName, owner, locks, kind, number)
    this.#kinds = kinds
    this.#whole = whole
    this.#remote = kinds.server.lock(rawName)
  }

  /** @internal */
  override get whole(): object {
    return this.#whole
  }

  override acquire(
    owner: Owner,
    meant: Acquisition,
    how: InnerOptions,
    leaseHolder?: LeaseHolder,
    calledAt?: number,
  ): Promise<Lease | null> {
    this.#refuseReader(owner)
    return super.acquire(owner, meant, how, leaseHolder, calledAt)
  }

  override async holdCountOf(wanted: string | undefined): Promise<number> {
    const { holders } = await this.#facts()
    return holders.find(({ owner }) => owner === wanted)?.holdCount ?? 0
  }

  /** Returns the result of `peek()`, and how many clients wait to read or to write. */
  override async inspect(): Promise<LockInfo> {
    const facts = await this.#facts()
    const waiters = facts.waitingToRead.length + facts.waitingToWrite.length
    const ageMs = this.#longestHolder(facts)?.ageMs ?? null
    return { ...this.#holderOf(facts), ageMs, waiters, queue: [], queueLength: 0 }
  }

  /**
   * Returns the holder of this side. If several owners hold the side, returns the owner with the
   * longest lease.
   */
  override async peek(failed?: string): Promise<HolderFacts> {
    return this.#holderOf(await this.#facts(failed))
  }

  #holderOf(facts: ReadWriteState): HolderFacts {
    const { token } = facts
    const longest = this.#longestHolder(facts)
    if (longest === undefined) return { holder: null, holdCount: 0, ttlMs: null, token }
    return { holder: longest.owner, holdCount: longest.holdCount, ttlMs: longest.ttlMs, token }
  }

  #longestHolder(facts: ReadWriteState): ReadWriteHolder | undefined {
    return this.#ownHolders(facts).sort((a, b) => (b.ttlMs ?? Infinity) - (a.ttlMs ?? Infinity))[0]
  }

  /** Ends all holds of this side that exist at the time of the call. The upgradable holder also counts as a reader. */
  override async forceUnlock(): Promise<boolean> {
    const failed = 'not confirmed to be unlocked by force'
    const holders = this.#ownHolders(await this.#facts(failed))
    for (const { owner } of holders) {
      const force = (callMs: number) => this.#remote.forceRelease(owner, callMs)
      await this.registry.request(this.name, failed, force)
      this.registry.find(this.rawName)?.forced({ owner, token: null })
    }
    return holders.length > 0
  }

  /** @internal */
  protected override async holders(failed: string): Promise<string[]> {
    return this.#ownHolders(await this.#facts(failed)).map(({ owner }) => owner)
  }

  /** @internal */
  protected override get watchable(): Watchable<unknown> {
    const { name, rawName } = this
    const remote = this.#remote
    const watchable: Watchable<ReadWriteState> = {
      name,
      watchKey: sidesOf(rawName),
      read: (callMs) => remote.inspect(callMs),
      listen: (onHint) => remote.listen(onHint),
      // Readers do not exclude readers, so the release of a reader does not free the read lock.
      isRelease: ({ by }) => by === 'writer' || this.kind !== this.#kinds.reading,
      readFree: (facts) => this.#keptOutBy(facts),
    }
    return watchable as Watchable<unknown>
  }

  /**
   * `isFree` is true if no holder keeps a new owner out of this side. Otherwise `ttlMs` is the
   * longest lease that keeps a new owner out, in milliseconds; Infinity if a lease never ends.
   */
  #keptOutBy({ holders }: ReadWriteState): FreeCheck {
    const { reading, writing } = this.#kinds
    const keepsOut = ({ side }: SideHolder) =>
      this.kind === writing || side === 'write' || (this.kind !== reading && side === 'upgradable')
    const those = holders.filter(keepsOut)
    const longestMs = Math.max(...those.map(({ ttlMs }) => ttlMs ?? Infinity))
    return { isFree: those.length === 0, ttlMs: longestMs }
  }

  #facts(failed = 'not inspected'): Promise<ReadWriteState> {
    return this.registry.request(this.name, failed, (callMs) => this.#remote.inspect(callMs))
  }

  /**
   * Returns the owners that hold this side. The upgradable holder also counts as a reader, but a
   * plain reader does not hold the upgradable side.
   */
  #ownHolders({ holders }: ReadWriteState): SideHolder[] {
    const { reading } = this.#kinds
    return holders.filter(({ side }) =>
      this.kind === reading ? side !== 'write' : side === this.kind.name,
    )
  }

  /** Throws an `UpgradeError` if the request would make a reader wait for itself. */
  #refuseReader(owner: Owner): void {
    const { reading, writing } = this.#kinds
    if (this.kind === reading) return
    const holds = this.registry.find(this.rawName)?.holds
    const reads = holds?.of(owner, reading)
    if (reads?.kind !== reading) return
    // An owner that reads and writes may re-enter the write lock, but not acquire the upgradable
    // lock. The owner would only re-enter its read lock, and could not upgrade the read lock after
    // the write.
    if (this.kind !== writing || holds?.of(owner, writing) === undefined) {
      throw new UpgradeError(this.name, this.kind === writing ? 'write' : 'upgradable')
    }
  }
}

/** The upgradable side. The leases of this side can acquire the write lock for the same owner. */
export class UpgradableSide extends Side implements Upgrader {
  readonly #writing: Side

  constructor(lock: WholeLock & OneObject, writing: Side) {
    super(lock, lock.kinds.upgrading)
    this.#writing = writing
  }

  /** @internal */
  upgrade(hold: Hold, options: LockOptions | undefined, released: AbortSignal): Promise<Lease> {
    const meant = until(released, usingOptions(options, this.registry.defaults))
    return this.#writing.orTimeout(this.#acquire(hold, meant), meant)
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

/**
 * Adds `released` to the signal of an upgrade, so that the release of the upgradable lease aborts
 * the upgrade.
 */
function until(released: AbortSignal, meant: Acquisition): Acquisition {
  const { signal } = meant
  return { ...meant, signal: signal ? AbortSignal.any([signal, released]) : released }
}
