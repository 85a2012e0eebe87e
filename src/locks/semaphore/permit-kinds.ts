import type { KindVerbs, Renewal } from '../../local/kind-verbs.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { RemotePool } from '../../servers/permit-pool.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import { PermitVerbs } from './permit-verbs.ts'
import { OF_SEMAPHORE } from './semaphore-words.ts'

/** So many kinds are kept: few numbers of permits are asked for. */
const MOST_KEPT = 64

/** What sets leased and plain permits apart. */
interface Pools {
  readonly name: 'permits' | 'semaphore'
  pool(rawName: string): RemotePool
  readonly renewal?: Renewal
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}

/** The kinds of holds that permits are: one for each number of them, which the names of holds end with. */
export class PermitKinds {
  readonly #pools: Pools
  readonly #kinds = new Map<number, LockKind>()
  readonly #verbs = new WeakMap<object, PermitVerbs>()

  constructor(pools: Pools) {
    this.#pools = pools
  }

  of(permits: number): LockKind {
    const known = this.#kinds.get(permits)
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
      newVerbs: (lock) => this.#verbsOf(lock),
    }
    if (this.#kinds.size < MOST_KEPT) this.#kinds.set(permits, kind)
    return kind
  }

  #verbsOf(lock: Parameters<NonNullable<LockKind['newVerbs']>>[0]): KindVerbs {
    let made = this.#verbs.get(lock)
    if (made === undefined) {
      made = new PermitVerbs(this.#pools.pool(lock.rawName), lock)
      this.#verbs.set(lock, made)
    }
    return made.verbs
  }
}
