import type { Public } from '../../kit/public.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { sidesOf, type Watchable } from '../../local/free-watches.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import { type Acquisition, tryLockArguments, usingOptions } from '../../options/acquisition.ts'
import type { LockOptions, TryLockOptions } from '../../options/options.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, ReadWriteFacts, ReadWriteHolder } from '../../servers/answers.ts'
import {
  isReleaseOf,
  isWriter,
  type ReadWriteServer,
  type RemoteReadWriteLock,
  UPGRADABLE_SUFFIX,
} from '../../servers/read-write-server.ts'
import type { Seen } from '../../waiting/free-watchers.ts'
import type { BaseLock } from '../lock/base-lock.ts'
import { HoldfastLock, handleOf, type Lock, type LockInfo } from '../lock/holdfast-lock.ts'
import { type Manner, nextNumber } from '../lock/one-lock.ts'
import type { HeldUpgradableLease, UpgradableLease, Upgrader } from './upgradable-lease.ts'
import { UpgradeError } from './upgrade-error.ts'

/** What sets the sides apart, and where they live. */
interface Kinds {
  readonly reading: LockKind
  readonly upgrading: LockKind
  readonly writing: LockKind
  readonly server: ReadWriteServer
}

/** The read-write lock that a side is of. */
interface WholeLock {
  readonly name: string
  readonly rawName: string
  readonly owner: Owner | undefined
  readonly locks: LocalLocks
  readonly kinds: Kinds
  readonly number: number
  /** The object that callers know it by. */
  readonly whole: object
}

/** The forms in which a lock is acquired. */
type Acquiring = 'lock' | 'tryLock' | 'using' | 'tryUsing'

/** The upgradable side of a read-write lock: a {@link Lock} whose leases have `upgrade()` and `tryUpgrade()`. */
export interface UpgradableLock
  extends Pick<BaseLock<UpgradableLease, HeldUpgradableLease>, Acquiring>,
    Omit<Lock, Acquiring> {}

/**
 * A lock that many may have at once to read, or one to write, as Redisson's `RReadWriteLock` of that name.
 *
 * Both sides are locks with all that every lock has: leases, the watchdog, `using`, re-entry, waits and aborts.
 * Each who reads has a lease of its own, so that one who crashes costs its lease and no more. Whoever waits to
 * write keeps those out who come to read after that, but for those who read already; and who waited to read while
 * somebody wrote is let in before the next writer. Clients of Redisson know nothing of that order: they read
 * beside others who read, whoever waits.
 *
 * The token of one who writes is above those of all who wrote before; one who reads has that of the last
 * writer.
 *
 * Whoever writes may read as well, and goes on reading when it has released the one to write. Code that holds the read
 * lock and asks for the write lock would wait for itself: that is refused with `UpgradeError`. The lease of the
 * upgradable lock has `upgrade()` for that.
 */
export interface ReadWriteLock extends Public<HoldfastReadWriteLock> {}

/** The {@link ReadWriteLock} of a client. */
export class HoldfastReadWriteLock {
  /** The name of the lock, as it was given to `getReadWriteLock`. */
  readonly name: string
  readonly #readLock: Lock
  readonly #upgradableLock: UpgradableLock
  readonly #writeLock: Lock
  readonly #inspect: () => Promise<ReadWriteFacts>

  /** @internal */
  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kinds: Kinds,
  ) {
    this.name = name
    const remote = kinds.server.lock(rawName)
    this.#inspect = () => locks.ask(name, 'not inspected', (callMs) => remote.inspect(callMs))
    const whole = { name, rawName, owner, locks, kinds, number: nextNumber(), whole: this }
    const writing = new Side(whole, kinds.writing)
    this.#readLock = handleOf(new Side(whole, kinds.reading))
    this.#writeLock = handleOf(writing)
    // Its waiters make leases of that sort, which the type of its kind does not say.
    this.#upgradableLock = handleOf(new UpgradableSide(whole, writing)) as UpgradableLock
  }

  /** The lock to read: several owners have it at once, while nobody else writes. */
  readLock(): Lock {
    return this.#readLock
  }

  /**
   * The lock to read first and maybe write then: one owner has it, beside others who read. `upgrade()` of its lease, or
   * the write lock taken by the same owner, waits until the others have read, and lets nobody write between.
   */
  upgradableLock(): UpgradableLock {
    return this.#upgradableLock
  }

  /** The lock to write: one owner has it, while nobody else reads. */
  writeLock(): Lock {
    return this.#writeLock
  }

  /**
   * Who reads or writes, for how long, and which clients have somebody who waits. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`, with `ClosedError` after `close()`.
   */
  inspect(): Promise<ReadWriteFacts> {
    return this.#inspect()
  }
}

/** One side of a read-write lock: to read, to read and maybe write, or to write. */
class Side extends HoldfastLock {
  readonly #kinds: Kinds
  readonly #remote: RemoteReadWriteLock
  readonly #whole: object

  constructor({ name, rawName, owner, locks, kinds, number, whole }: WholeLock, kind: LockKind) {
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
    manner: Manner,
    holder?: Holder,
    askedAt?: number,
  ): Promise<Lease | null> {
    this.#refuseReader(owner)
    return super.acquire(owner, meant, manner, holder, askedAt)
  }

  override async holdCount(): Promise<number> {
    const lease = this.currentOwner.heldLease()
    const { holders } = await this.#facts()
    return holders.find(({ owner }) => owner === lease?.owner)?.holdCount ?? 0
  }

  /** As `peek()` has it, and how many clients wait for either side. */
  override async inspect(): Promise<LockInfo> {
    const facts = await this.#facts()
    const waiters = facts.waitingToRead.length + facts.waitingToWrite.length
    return { ...this.#holderOf(facts), waiters, queue: [], queueLength: 0 }
  }

  /** Whoever has this side: of several who read the one whose lease is the longest. */
  override async peek(failed?: string): Promise<HolderFacts> {
    return this.#holderOf(await this.#facts(failed))
  }

  #holderOf(facts: ReadWriteFacts): HolderFacts {
    const { token } = facts
    const longest = this.#ownHolders(facts).sort(
      (a, b) => (b.ttlMs ?? Infinity) - (a.ttlMs ?? Infinity),
    )[0]
    if (longest === undefined) return { holder: null, holdCount: 0, ttlMs: null, token }
    return { holder: longest.owner, holdCount: longest.holdCount, ttlMs: longest.ttlMs, token }
  }

  /** Takes this side from all who have it when this is called. */
  override async forceUnlock(): Promise<boolean> {
    const failed = 'not confirmed to be unlocked by force'
    const holders = this.#ownHolders(await this.#facts(failed))
    for (const { owner } of holders) {
      const force = (callMs: number) => this.#remote.forceRelease(owner, callMs)
      await this.registry.ask(this.name, failed, force)
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
    const watchable: Watchable<ReadWriteFacts> = {
      name,
      watchKey: sidesOf(rawName),
      look: (callMs) => remote.inspect(callMs),
      listen: (onWake) => remote.listen(onWake),
      isRelease: (message) => isReleaseOf(message, this.kind === this.#kinds.reading),
      readFree: (facts) => this.#keptOutBy(facts),
    }
    return watchable as Watchable<unknown>
  }

  /** Whether any owner keeps others from this side, and for how long at most. */
  #keptOutBy({ holders }: ReadWriteFacts): Seen {
    const { reading, writing } = this.#kinds
    const keepsOut = ({ owner }: ReadWriteHolder) =>
      this.kind === writing ||
      isWriter(owner) ||
      (this.kind !== reading && owner.endsWith(UPGRADABLE_SUFFIX))
    const those = holders.filter(keepsOut)
    const longestMs = Math.max(...those.map(({ ttlMs }) => ttlMs ?? Infinity))
    return { isFree: those.length === 0, ttlMs: longestMs === Infinity ? -1 : longestMs }
  }

  #facts(failed = 'not inspected'): Promise<ReadWriteFacts> {
    return this.registry.ask(this.name, failed, (callMs) => this.#remote.inspect(callMs))
  }

  #ownHolders({ holders }: ReadWriteFacts): ReadWriteHolder[] {
    const writes = this.kind === this.#kinds.writing
    return holders.filter(({ owner }) => isWriter(owner) === writes)
  }

  /** Who reads would wait for itself, where others might do the same. */
  #refuseReader(owner: Owner): void {
    const { reading, writing } = this.#kinds
    if (this.kind === reading) return
    const holds = this.registry.find(this.rawName)?.holds
    const reads = holds?.of(owner, reading)
    if (reads?.kind !== reading) return
    // It would re-enter the one to read, and be refused when it writes no more.
    if (this.kind !== writing || holds?.of(owner, writing) === undefined) {
      throw new UpgradeError(this.name, this.kind === writing ? 'write' : 'upgradable')
    }
  }
}

/** The upgradable side of a read-write lock, whose leases take the write lock for the same owner. */
class UpgradableSide extends Side implements Upgrader {
  readonly #writing: Side

  constructor(whole: WholeLock, writing: Side) {
    super(whole, whole.kinds.upgrading)
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

/** The same acquisition, which also ends when the upgradable lease is released. */
function until(released: AbortSignal, meant: Acquisition): Acquisition {
  const { signal } = meant
  return { ...meant, signal: signal ? AbortSignal.any([signal, released]) : released }
}
