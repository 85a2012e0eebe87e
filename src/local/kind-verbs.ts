import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { LeaseToRenew } from '../servers/answers.ts'
import type { LockServer, RemoteLock } from '../servers/lock-server.ts'

/** The requests of one kind of lock to its server or quorum. */
export interface KindVerbs
  extends Pick<RemoteLock, 'acquire' | 'reenter' | 'release' | 'abandon' | 'ranOut' | 'listen'>,
    Partial<Pick<RemoteLock, 'handOver'>> {
  /** Shared by kinds whose waiters receive the same messages. Default: these verbs. */
  readonly listensWith?: object
  /** A waiter gave up before its first request. The place of the client may have no waiter left. */
  leave?(): void
}

/** Renews leases, groups leases for one request, and confirms grants if that is wanted. */
export type Renewal = Pick<LockServer, 'renew' | 'groups' | 'confirm'>

/** A lock, as the verbs of a kind see it. */
export interface LockThere {
  /** As it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteLock
  readonly services: { readonly clock: Clock }
  /** The waiters of this client. `first` asks next. */
  readonly waiters: {
    readonly first:
      | { readonly request: { readonly kind: HoldKind }; readonly waitedMs: number }
      | undefined
    /** As `first`, of the waiters that wait aside. */
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
   * Creates the requests of one lock: called once for each lock. Default: the requests that every
   * kind can use. Without `handOver`, no release hands the lock over inside the client.
   */
  newVerbs?(lock: LockThere): KindVerbs
  /** True if the server keeps a list of waiters and must learn when a waiter gives up. */
  readonly announcesWaits?: true
  /** Default: its leases are renewed together with the leases of other kinds. */
  readonly renewal?: Renewal
}

/** @param ofAll the renewal of kinds that have none of their own */
export function renewalOf(one: Pick<Hold, 'kind'>, ofAll: Renewal): Renewal {
  return kindOf(one).renewal ?? ofAll
}

/** Getters, because a master that lost the hold later gets its state of that later time. */
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

/** Every kind is a `RemoteKind`; folders that know no server use the narrower type. */
export function kindOf({ kind }: { readonly kind: HoldKind }): RemoteKind {
  return kind as RemoteKind
}
