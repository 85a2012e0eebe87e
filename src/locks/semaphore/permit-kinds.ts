import type { Renewal } from '../../local/kind-verbs.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { PermitsSeen, RemotePool } from '../../servers/permit-pool.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import type { Watching } from './permit-sights.ts'
import { PermitVerbs } from './permit-verbs.ts'
import { SemaphoreWarnings } from './semaphore-warnings.ts'
import { OF_SEMAPHORE } from './semaphore-words.ts'

/** So many kinds are kept: few numbers of permits are asked for. */
const MOST_KEPT = 64

/** What sets leased and plain permits apart. */
interface Pools {
  readonly name: 'permits' | 'semaphore'
  /** Which calls set how many permits there are. */
  readonly setBy: string
  pool(rawName: string): RemotePool
  readonly renewal?: Renewal
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}

/** The kinds of holds that permits are: one for each number of them, which the names of holds end with. */
export class PermitKinds {
  readonly #pools: Pools
  readonly #client: Watching
  readonly #kinds = new Map<string, LockKind>()
  readonly #verbs = new WeakMap<object, PermitVerbs>()

  constructor(locks: LocalLocks, pools: Pools) {
    this.#pools = pools
    this.#client = { clients: locks.clients, warnings: new SemaphoreWarnings(pools.setBy) }
  }

  get setBy(): string {
    return this.#pools.setBy
  }

  /** What refused attempts for permits of that semaphore have seen a moment ago. */
  seenOf(lock: LocalLock): PermitsSeen | undefined {
    return this.#verbs.get(lock)?.sights.recent
  }

  /** @param limit how many permits there are to be in all, which an acquisition sets if nobody has */
  of(permits: number, limit?: number): LockKind {
    const key = `${permits}/${limit}`
    const known = this.#kinds.get(key)
    if (known !== undefined) return known
    const { name, renewal } = this.#pools
    const kind: LockKind = {
      name,
      isShared: true,
      isCounted: true,
      words: OF_SEMAPHORE,
      waitsInTurn: false,
      announcesWaits: true,
      whyNoVote: 'is a semaphore, which needs one server',
      nameSuffix: `:${permits}`,
      ...(renewal && { renewal }),
      newWaiter: (lock, request) => this.#pools.newWaiter(lock, request),
      newVerbs: (lock) => this.#verbsOf(lock).with(limit),
    }
    if (this.#kinds.size < MOST_KEPT) this.#kinds.set(key, kind)
    return kind
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
