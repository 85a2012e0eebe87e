import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { LeaseToRenew } from '../servers/answers.ts'
import type { LockServer, RemoteLock } from '../servers/lock-server.ts'

/** The requests of one kind of lock to its server or quorum. */
export interface KindVerbs
  extends Pick<RemoteLock, 'acquire' | 'reenter' | 'release' | 'abandon' | 'ranOut' | 'listen'>,
    Partial<Pick<RemoteLock, 'handOver'>> {
  /**
   * The key for the subscription. Kinds whose waiters receive the same messages share one object.
   * Default: these verbs.
   */
  readonly listensWith?: object
  /**
   * Called when a waiter gave up before its first request, because the client's place in a queue
   * may have no waiter left.
   */
  leave?(): void
}

/**
 * Renews leases, groups leases for one request, and confirms grants on replicas if the client
 * requires it.
 */
export type Renewal = Pick<LockServer, 'renew' | 'groups' | 'confirm'>

/** The members of a local lock that the verbs of a kind use. */
export interface LockThere {
  /** The name that was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteLock
  readonly services: { readonly clock: Clock }
  /** The waiters of this client. `first` sends the next request. */
  readonly waiters: {
    readonly first:
      | { readonly request: { readonly kind: HoldKind }; readonly waitedMs: number }
      | undefined
    /** The first of the waiters that wait aside. */
    readonly firstAside: object | undefined
  }
  /**
   * The holds of this client. `leaseMs` is the longest lease that was requested for a hold, in
   * milliseconds.
   */
  readonly holds: {
    readonly all: readonly Pick<Hold, 'id' | 'leaseMs' | 'loseGone' | 'over'>[]
  }
}

/** How a kind of lock is acquired, released and renewed on its server or quorum. */
export interface RemoteKind extends HoldKind {
  /**
   * Creates the requests of one lock. It is called once for each lock. Default: the requests that
   * every kind can use. If the result has no `handOver`, releases do not hand the lock over inside
   * the client.
   */
  newVerbs?(lock: LockThere): KindVerbs
  /** True if the server keeps a list of waiters and must learn when a waiter gives up. */
  readonly announcesWaits?: true
  /** Renews the leases of this kind. Default: one renewal for all kinds without their own. */
  readonly renewal?: Renewal
}

/** @param ofAll the renewal for kinds that have no `renewal` */
export function renewalOf(one: Pick<Hold, 'kind'>, ofAll: Renewal): Renewal {
  return kindOf(one).renewal ?? ofAll
}

/**
 * `holds` and `isHeld` are read later, because a master that lost the hold must get the state at
 * the time of its request.
 */
export function toRenew(hold: Hold): LeaseToRenew {
  return {
    ...hold.id,
    get holds() {
      return hold.current.count
    },
    token: hold.lastToken,
    isHeld: () => hold.current.live,
  }
}

/**
 * Every kind is a `RemoteKind`. Folders that must not import server types use the narrower type
 * `HoldKind`.
 */
export function kindOf({ kind }: { readonly kind: HoldKind }): RemoteKind {
  return kind as RemoteKind
}
