import type { LocalLock } from '../../local/local-lock.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { PermitsSeen, RemotePool } from '../../servers/permit-pool.ts'
import type { Renewal } from '../../servers/renewal.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import type { Watching } from './permit-sights.ts'
import { PermitVerbs, type SendTogether } from './permit-verbs.ts'
import { SemaphoreWarnings } from './semaphore-warnings.ts'
import { OF_SEMAPHORE } from './semaphore-words.ts'

/**
 * The client keeps at most this many kinds. A program usually requests few different numbers of
 * permits.
 */
const MOST_KEPT = 64

/** The properties in which permits with leases and plain permits differ. */
interface Pools<Result, Request extends AcquireRequest> {
  readonly name: 'permits' | 'semaphore'
  /** A sentence that names the calls which set the number of permits. */
  readonly setBy: string
  pool(rawName: string): RemotePool
  ownerId(id: string, permits: number): string
  readonly renewal?: Renewal
  newWaiter(lock: LocalLock, request: Request): Waiter<Result>
}

/**
 * The kinds of permits of one client. Each pair of a number of permits and a limit has its own
 * kind.
 */
export class PermitKinds<Result, Request extends AcquireRequest> {
  readonly #pools: Pools<Result, Request>
  readonly #client: Watching
  readonly #kinds = new Map<string, LockKind<Result, Request>>()
  readonly #verbs = new WeakMap<object, PermitVerbs>()

  constructor(locks: LocalLocks, pools: Pools<Result, Request>) {
    this.#pools = pools
    this.#client = {
      clients: locks.clients,
      warnings: new SemaphoreWarnings(pools.setBy, locks.limits.words.name),
    }
  }

  get setBy(): string {
    return this.#pools.setBy
  }

  /**
   * Returns the state of the semaphore in the last refusal; undefined if there is no recent
   * refusal.
   */
  seenOf(lock: LocalLock): PermitsSeen | undefined {
    return this.#verbs.get(lock)?.sights.recent
  }

  /**
   * Returns the kind for acquisitions of this number of permits.
   *
   * @param limit the total number of permits, which an acquisition sets if no client has set a
   *   number
   */
  of(permits: number, limit?: number): LockKind<Result, Request> {
    const key = `${permits}/${limit}`
    const known = this.#kinds.get(key)
    if (known !== undefined) return known
    const { name, renewal } = this.#pools
    const kind: LockKind<Result, Request> = {
      name,
      isShared: true,
      isCounted: true,
      words: OF_SEMAPHORE,
      waitsInTurn: false,
      announcesWaits: true,
      whyNoVote: 'is a semaphore, which needs one server',
      permits,
      ownerId: (id) => this.#pools.ownerId(id, permits),
      ...(renewal && { renewal }),
      newWaiter: (lock, request) => this.#pools.newWaiter(lock, request),
      newVerbs: (lock) => this.#verbsOf(lock).with(permits, limit),
    }
    if (this.#kinds.size < MOST_KEPT) this.#kinds.set(key, kind)
    return kind
  }

  /**
   * Called when a call of this client releases permits. See `PermitVerbs.handOver`.
   *
   * @returns undefined if the caller must send the release alone
   */
  handOver<T>(lock: LocalLock, callMs: number, send: SendTogether<T>): T | undefined {
    return this.#verbs.get(lock)?.handOver(callMs, send)
  }

  #verbsOf(lock: Parameters<NonNullable<LockKind['newVerbs']>>[0]): PermitVerbs {
    let made = this.#verbs.get(lock)
    if (made === undefined) {
      made = new PermitVerbs(this.#pools.pool(lock.rawName), lock, this.#client)
      this.#verbs.set(lock, made)
    }
    return made
  }
}
