import type { KindName } from '../../src/index.ts'

/** The counts of a semaphore, of a latch or of a cyclic barrier. */
export interface CountFacts {
  /**
   * For a semaphore: the permits that can be acquired now, including expired permits. Below 0 if
   * more permits are taken than the semaphore has. 0 for other kinds.
   */
  readonly available: number
  /**
   * For permits with leases: the number of held permits. For a barrier: the number of parties that
   * have arrived. Null for other kinds.
   */
  readonly taken: number | null
  /**
   * For a latch: the count-downs until the latch opens. For a barrier: the parties that have not
   * arrived yet. Null for semaphores.
   */
  readonly toGo: number | null
}

export interface State {
  /**
   * The state for programs. `read`, `write`: a read-write lock is held in this mode. `held`:
   * another lock is held, a permit is taken, or a plain semaphore has no available permit.
   * `closed`: a latch is not open, or parties of a barrier wait. `free`: none of these.
   */
  readonly state: 'free' | 'held' | 'read' | 'write' | 'closed'
  /** The state in words for users: `held`, `2 of 3 taken`, `closed, 2 to go`, `leader`. */
  readonly stateText: string
}

/** The facts from which a kind makes the state of one lock. */
export interface StateFacts {
  readonly holders: readonly unknown[]
  /** The mode of a held read-write lock: `read` or `write`. Undefined for other locks. */
  readonly mode: string | undefined
  readonly count: CountFacts | null
  /** False if the number of permits of a semaphore is not set. True for other kinds. */
  readonly isSet: boolean
}

/** The facts from which a kind explains how one lock becomes free. */
export interface FreeFacts {
  readonly count: CountFacts | null
  readonly stateText: string
  readonly waiting: number
}

/** The properties of one kind of hold. The history has a name for each kind of hold. */
export interface HoldView {
  /** The kinds of holds of other owners that cannot begin before this hold has ended. */
  readonly endedBy: readonly KindName[]
  /** The kind as which the page shows such a hold. By default, its own kind. */
  readonly shownAs?: KindName
  /** True if no other owner can have a hold at the same time. */
  readonly isExclusive?: boolean
  /** True if the hold gets no new token, but the token of an earlier hold. */
  readonly sharesToken?: boolean
  /** True if the servers may not know the owner of such a hold. */
  readonly hidesOwners?: boolean
  /** True if the history never records the end of such a hold. */
  readonly hidesEnd?: boolean
}

/** The words that the page of the dashboard uses for one kind. */
export interface PageWords {
  /** The heading above one holder, and above several holders. */
  readonly holder: readonly [one: string, many: string]
  /** The words before the age of a hold. */
  readonly heldFor: string
  /** The heading above the waiters. */
  readonly waiting: string
  /** The noun for the thing that a release by force takes, such as `lock`. */
  readonly what: string
  /** The noun for the held thing, with its verb, such as `lock is`. */
  readonly it: string
  /** True if the hold count is a number of permits. */
  readonly holdsPermits: boolean
  /** The level of the concern about a hold without an expiry. */
  readonly endless: 'warn' | 'bad'
  /**
   * The CSS class of the state mark ends with this word. Null means that it ends with the state.
   */
  readonly stateClass: string | null
  /**
   * The words about waiters that cannot continue. If a lock has this `stateText`, the page shows
   * `text` after the number of waiters. Null if the kind has no such state.
   */
  readonly unusable: { readonly stateText: string; readonly text: string } | null
}

/**
 * The properties and words with which tools show one kind of lock. Each kind has one file in this
 * folder.
 */
export interface KindView<K extends string = string> {
  /** The name of the kind, which tables and JSON show. */
  readonly kind: K
  stateOf(facts: StateFacts): State
  /**
   * The kinds of holds of such a lock, by their names in the history. Undefined if its holders are
   * unknown.
   */
  readonly holds?: Readonly<Partial<Record<KindName, HoldView>>>
  /** Returns the kind of the hold that this owner has. By default, the first kind in `holds`. */
  holdOf?(owner: string): KindName
  /** False if the kind has no fencing tokens. True by default. */
  readonly hasToken?: boolean
  /**
   * False if a release by force gives no fence, because other holders may have lower tokens. Then
   * the command for the release must name the owner. True by default.
   */
  readonly hasFence?: boolean
  /**
   * True if one owner id may hold the lock several times, one after the other. Then only the token
   * identifies a hold.
   */
  readonly reusesOwners?: boolean
  /** True if waiters may have no queue in Redis, so that only the reports of clients name them. */
  readonly hidesWaiters?: boolean
  /**
   * False if waiters are usual and not a problem, such as the candidates of an election. True by
   * default.
   */
  readonly countsWaiters?: boolean
  /**
   * True if `findLeaks` checks locks of this kind for holders of unknown processes and for queues
   * of free locks.
   */
  readonly leaks?: boolean
  /** Returns further lines for `npx holdfast inspect`, each with its heading and its text. */
  lines?(facts: FreeFacts): string[][]
  /** Returns sentences that say how a lock becomes free. Only for a kind without known holders. */
  toFree?(facts: FreeFacts): string[]
  /**
   * Returns a sentence about a step that a user must do first. Undefined if a free lock can be used
   * at once.
   */
  toUse?(facts: FreeFacts): string | undefined
  /** The words for a free lock. By default, `it is free`. */
  readonly whenFree?: string
  /** A sentence that says when a hold ends. It follows the sentences about the holders. */
  readonly endOfHold?: string
  /**
   * Returns a sentence about a holder whose process is unknown, and whose lease ends after `wait`.
   */
  ofUnknown?(owner: string, wait: string): string
  /**
   * Why a release by force is refused, as words after the name of the lock. Undefined if it is
   * possible.
   */
  readonly whyNoForce?: string
  /**
   * Returns a sentence that says why no holder can have this owner id. Undefined if a holder can
   * have it.
   */
  ownerRefusal?(name: string, owner: string): string | undefined
  /**
   * The words that the page of the dashboard uses for this kind instead of its words for a lock.
   */
  readonly page?: Partial<PageWords>
}
