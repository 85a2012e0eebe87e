import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { LeaseToRenew } from '../servers/answers.ts'
import type { LockServer, RemoteLock } from '../servers/lock-server.ts'

/** The verbs that one kind of lock has at the place where its locks live. */
export interface KindVerbs
  extends Pick<RemoteLock, 'acquire' | 'reenter' | 'release' | 'abandon' | 'ranOut' | 'listen'>,
    Partial<Pick<RemoteLock, 'handOver'>> {
  /** The same for kinds whose waiters are told by the same messages; left out where it is these verbs. */
  readonly listensWith?: object
  /** A waiter has given up before it could ask: the place of its client in the queue there may be nobody's. */
  leave?(): void
}

/** Renews leases, says which of them one request can be about, and confirms grants where that is wanted. */
export type Renewal = Pick<LockServer, 'renew' | 'groups' | 'confirm'>

/** The lock that they are about, and the verbs that the place has for every lock. */
export interface LockThere {
  /** As it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteLock
  readonly services: { readonly clock: Clock }
  /** Those of this client who want it, and who of them is next to ask. */
  readonly waiters: {
    readonly first:
      | { readonly request: { readonly kind: HoldKind }; readonly waitedMs: number }
      | undefined
    /** The same of those who wait aside. */
    readonly firstAside: object | undefined
  }
  /** Those of this client who have it, with the longest lease that was asked for of each, in milliseconds. */
  readonly holds: {
    readonly all: readonly Pick<Hold, 'id' | 'leaseMs' | 'loseGone' | 'over'>[]
  }
}

/** How locks of one kind are acquired and released at their place, and how their leases are renewed. */
export interface RemoteKind extends HoldKind {
  /**
   * Its verbs, which a lock keeps: this is called once for each. Left out where they are those that
   * the place has for every lock. Without a `handOver` no release passes the lock on inside the client.
   */
  newVerbs?(lock: LockThere): KindVerbs
  /** Whether its place knows who waits, and has to be told of who waits no more. */
  readonly announcesWaits?: true
  /** Left out where its leases are renewed together with those of every lock. */
  readonly renewal?: Renewal
}

/** @param ofAll how the leases of every lock are renewed at the place */
export function renewalOf(one: Pick<Hold, 'kind'>, ofAll: Renewal): Renewal {
  return kindOf(one).renewal ?? ofAll
}

/** A hold as several masters are told of it: one that lost it is given back what is so by then. */
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

/** The kind of a hold or of a request. Rooms that know no server know it as less than it is. */
export function kindOf({ kind }: { readonly kind: HoldKind }): RemoteKind {
  return kind as RemoteKind
}
