import type { Public } from '../../kit/public.ts'
import type { Lease } from '../../lease/lease.ts'
import { sidesOf, type Watchable } from '../../local/free-watches.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, ReadWriteFacts, ReadWriteHolder } from '../../servers/answers.ts'
import {
  isReleaseOf,
  type RemoteReadWriteLock,
  UPGRADABLE_SUFFIX,
  WRITE_SUFFIX,
} from '../../servers/read-write-server.ts'
import type { Seen } from '../../waiting/free-watchers.ts'
import { HoldfastLock, type Lock, type LockInfo, nextNumber } from '../lock/holdfast-lock.ts'
import type { Manner } from '../lock/one-lock.ts'
import type { ReadWriteKinds } from './read-write-kinds.ts'
import { UpgradeError } from './upgrade-error.ts'

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
 * Whoever writes may read as well, and goes on reading when it has released the one to write. Whoever reads and
 * asks to write would wait for itself: that is refused with `UpgradeError`, but for who has the upgradable lock.
 */
export interface ReadWriteLock extends Public<HoldfastReadWriteLock> {}

/** The {@link ReadWriteLock} of a client. */
export class HoldfastReadWriteLock {
  /** The name of the lock, as it was given to `getReadWriteLock`. */
  readonly name: string
  readonly #readLock: HoldfastLock
  readonly #upgradableLock: HoldfastLock
  readonly #writeLock: HoldfastLock
  readonly #inspect: () => Promise<ReadWriteFacts>

  /** @internal */
  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kinds: ReadWriteKinds,
  ) {
    this.name = name
    const remote = kinds.server.lock(rawName)
    this.#inspect = () => locks.ask(name, 'not inspected', (callMs) => remote.inspect(callMs))
    const number = nextNumber()
    const sideOf = (kind: LockKind) =>
      new Side(name, rawName, owner, locks, kind, number, kinds, this)
    this.#readLock = sideOf(kinds.reading)
    this.#upgradableLock = sideOf(kinds.upgrading)
    this.#writeLock = sideOf(kinds.writing)
  }

  /** The lock to read: several owners have it at once, while nobody else writes. */
  readLock(): Lock {
    return this.#readLock
  }

  /**
   * The lock to read first and maybe write then: one owner has it, beside others who read. Inside it the same
   * owner may take the lock to write, which waits until the others have read, and lets nobody write between.
   */
  upgradableLock(): Lock {
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
  readonly #kinds: ReadWriteKinds
  readonly #remote: RemoteReadWriteLock
  readonly #whole: ReadWriteLock

  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kind: LockKind,
    number: number,
    kinds: ReadWriteKinds,
    whole: ReadWriteLock,
  ) {
    super(name, rawName, owner, locks, kind, number)
    this.#kinds = kinds
    this.#whole = whole
    this.#remote = kinds.server.lock(rawName)
  }

  /** @internal */
  override get whole(): ReadWriteLock {
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
      owner.endsWith(WRITE_SUFFIX) ||
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
    return holders.filter(({ owner }) => owner.endsWith(WRITE_SUFFIX) === writes)
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
      throw new UpgradeError(this.name)
    }
  }
}
