import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { LeaseToRenew } from '../servers/answers.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import type { Renewal } from '../servers/renewal.ts'

/** The requests of one kind of lock to its server or quorum. */
export interface KindVerbs
  extends Pick<RemoteLock, 'acquire' | 'reenter' | 'lower' | 'abandon' | 'ranOut' | 'listen'>,
    Partial<Pick<RemoteLock, 'handOver'>> {
  /**
   * Kinds whose waiters receive the same messages have the same object here, and share one
   * subscription. Undefined if only this kind receives the messages.
   */
  readonly listensWith?: object
  /**
   * Called when a waiter settled without an owner id, usually before its first request. The client
   * then gives up its place in the server's queue, if no other waiter needs the place.
   */
  stopWaiting?(): void
}

/** The members of a waiter that the requests of a kind use. */
interface WaiterForVerbs {
  readonly request: { readonly kind: HoldKind }
  readonly waitedMs: number
}

/** The members of a local lock that the requests of a kind use. */
export interface LockForVerbs {
  /** The name that was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteLock
  readonly services: { readonly clock: Clock }
  /**
   * The waiters of this client for the lock. `first` is the waiter that usually sends the next
   * request.
   */
  readonly waiters: {
    readonly first: WaiterForVerbs | undefined
    /** The waiter behind `first`. */
    readonly second: WaiterForVerbs | undefined
    /** The first waiter of the kinds with `waitsAside`. */
    readonly firstAside: object | undefined
  }
  /**
   * The holds of this client. `leaseMs` is the longest lease that was requested for a hold, in
   * milliseconds.
   */
  readonly holds: {
    readonly all: readonly Pick<Hold, 'id' | 'leaseMs' | 'loseGone' | 'whyEnded'>[]
  }
}

/** A kind of lock, with its requests and its renewal. */
export interface RemoteKind extends HoldKind {
  /**
   * Creates the requests of one lock; called at most once for each local lock. Undefined if the
   * kind uses the requests of `RemoteLock`. If the result has no `handOver`, this client never
   * sends a hand-over request for this kind.
   */
  newVerbs?(lock: LockForVerbs): KindVerbs
  /**
   * Converts an unused id to the owner id of a new attempt. Undefined if the id itself is the owner
   * id.
   */
  ownerId?(id: string): string
  /** Set if the server keeps a queue of waiters, and must learn when a waiter gives up. */
  readonly announcesWaits?: true
  /**
   * Renews the leases of this kind by separate requests. Undefined if the renewal of the server
   * also renews this kind.
   */
  readonly renewal?: Renewal
}

/** Returns the renewal of this kind, or `ofAll` if the kind has no renewal of its own. */
export function renewalOf(one: Pick<Hold, 'kind'>, ofAll: Renewal): Renewal {
  return kindOf(one).renewal ?? ofAll
}

/**
 * The lease of a hold, for a renewal. A quorum reads `holds` and `isHeld` only to give the hold to a
 * master that does not have it.
 */
class LeaseOfHold implements LeaseToRenew {
  readonly rawName: string
  readonly ownerId: string
  readonly token: number
  readonly #hold: Hold

  constructor(hold: Hold) {
    this.rawName = hold.id.rawName
    this.ownerId = hold.id.ownerId
    this.token = hold.lastToken
    this.#hold = hold
  }

  get holds(): number {
    return this.#hold.current.count
  }

  isHeld(): boolean {
    return this.#hold.current.live
  }
}

export function toRenew(hold: Hold): LeaseToRenew {
  return new LeaseOfHold(hold)
}

/**
 * Returns the kind of a hold or a request. Every kind is a `RemoteKind`. Folders that must not
 * import server types declare only a `HoldKind`.
 */
export function kindOf({ kind }: { readonly kind: HoldKind }): RemoteKind {
  return kind as RemoteKind
}
