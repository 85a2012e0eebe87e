import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts, ReadWriteFacts, ReadWriteHolder } from '../../servers/answers.ts'
import { isWriter, type RemoteReadWriteLock } from '../../servers/read-write-server.ts'
import { HoldfastLock, type LockInfo } from '../lock/holdfast-lock.ts'
import type { Manner } from '../lock/one-lock.ts'
import type { ReadWriteKinds } from './read-write-kinds.ts'
import { UpgradeError } from './upgrade-error.ts'

/** The read-write lock that a side is of. */
export interface WholeLock {
  readonly name: string
  readonly rawName: string
  readonly owner: Owner | undefined
  readonly locks: LocalLocks
  readonly kinds: ReadWriteKinds
  readonly number: number
  /** The object that callers know it by. */
  readonly whole: object
}

/** One side of a read-write lock: to read, to read and maybe write, or to write. */
export class Side extends HoldfastLock {
  readonly #kinds: ReadWriteKinds
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
