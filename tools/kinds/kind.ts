import type { KindName } from '../../src/index.ts'

/** The number of a semaphore or a latch, and the values that follow from it. */
export interface CountFacts {
  /**
   * Permits that can be acquired now, expired permits included. Below 0 if more are taken than were
   * set.
   */
  readonly available: number
  /** Permits that are held; null for a plain semaphore, which does not store its holders. */
  readonly taken: number | null
  /** How many count-downs are left; null if it is no latch. */
  readonly toGo: number | null
}

export interface State {
  /**
   * `free`: no owner holds it. `held`, `read`, `write`: held in that mode. Permits are `held` while
   * any permit is taken. A plain semaphore is `held` while no permit is available. `closed`: a
   * latch that is not open.
   */
  readonly state: 'free' | 'held' | 'read' | 'write' | 'closed'
  /** The state in words: `held`, `2 of 3 taken`, `closed, 2 to go`, `leader`. */
  readonly stateText: string
}

/** The facts that decide the state of one name. */
export interface StateFacts {
  readonly holders: readonly unknown[]
  /** The mode of a read-write lock that is held; undefined for other locks. */
  readonly mode: string | undefined
  readonly count: CountFacts | null
  /** False if the number of permits of a semaphore is not set. True for other kinds. */
  readonly isSet: boolean
}

/** The facts that decide how a name becomes free. */
export interface FreeFacts {
  readonly count: CountFacts | null
  readonly stateText: string
  readonly waiting: number
}

/** One kind of hold, by its name in the history. */
export interface HoldView {
  /** The kinds of holds that another owner can get only after this hold has ended. */
  readonly endedBy: readonly KindName[]
  /** The name on the page, if another kind of hold has the same properties. */
  readonly shownAs?: KindName
  /** True if no other hold is possible at the same time. */
  readonly isExclusive?: boolean
  /** True if the hold has the token of an earlier hold. */
  readonly sharesToken?: boolean
  /** True if the owner of a hold may be unknown. */
  readonly hidesOwners?: boolean
  /** True if the history never has the end of a hold. */
  readonly hidesEnd?: boolean
}

/** The words of the dashboard's page for one kind. */
export interface PageWords {
  /** The heading above one holder, and above several holders. */
  readonly holder: readonly [one: string, many: string]
  /** The words before the age of a hold. */
  readonly heldFor: string
  /** The heading above the waiters. */
  readonly waiting: string
  /** The object that a release by force takes. */
  readonly what: string
  /** The object of a hold, with its verb. */
  readonly it: string
  /** True if the hold count is a number of permits. */
  readonly holdsPermits: boolean
  /** How bad a hold without an expiry is. */
  readonly endless: 'warn' | 'bad'
  /** The class of the state, if the state does not decide the class. */
  readonly mark: string | null
  /** The state of a name that waiters cannot use, and the words for it after their number. */
  readonly unusable: { readonly stateText: string; readonly text: string } | null
}

/** One kind of locks, as tools show it. Each kind has one file in this folder. */
export interface KindView<K extends string = string> {
  /** The kind of a row, which tables and JSON show. */
  readonly kind: K
  stateOf(facts: StateFacts): State
  /** The kinds of holds, by their names in the history. Left out if the kind has no known holds. */
  readonly holds?: Readonly<Partial<Record<KindName, HoldView>>>
  /** Returns the kind of an owner's hold. Default: the first kind of `holds`. */
  holdOf?(owner: string): KindName
  /** False if the kind has no fencing tokens. Default: true. */
  readonly hasToken?: boolean
  /**
   * False if a release by force gives no fence, and if the owner must be named, because other
   * holders may have lower tokens. Default: true.
   */
  readonly hasFence?: boolean
  /**
   * True if one owner id may hold the lock several times, one after the other. Then only the token
   * identifies a hold.
   */
  readonly reusesOwners?: boolean
  /** True if only the reports of clients name the waiters, unless the waiters have a queue. */
  readonly hidesWaiters?: boolean
  /** False if waiters are usual and no problem, as candidates of an election. Default: true. */
  readonly countsWaiters?: boolean
  /** True if holders of this kind are judged as leaks when their process is unknown. */
  readonly leaks?: boolean
  /** Further lines of `inspect`. */
  lines?(facts: FreeFacts): string[][]
  /** How a name becomes free, for a kind whose holders are unknown. */
  toFree?(facts: FreeFacts): string[]
  /** The first step before a free name can be used, for users. */
  toUse?(facts: FreeFacts): string | undefined
  /** The words for a name that is free. Default: `it is free`. */
  readonly whenFree?: string
  /** A sentence about the ends of holds, after the sentences about the holders. */
  readonly endOfHold?: string
  /** A sentence about a holder whose process is unknown, and whose lease ends after `wait`. */
  ofUnknown?(owner: string, wait: string): string
  /** Why a release by force is refused, as words after the name. Left out if it is possible. */
  readonly whyNoForce?: string
  /** Why no holder can have this name. Undefined if a holder can have it. */
  ownerRefusal?(name: string, owner: string): string | undefined
  /** The words of the dashboard's page. They replace the words for a lock. */
  readonly page?: Partial<PageWords>
}
