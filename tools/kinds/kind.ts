import type { Holdfast, JobInfo, KindName } from '../../src/index.ts'
import type { Concluded, CountFacts } from './concluded.ts'

export interface State {
  /**
   * The state for programs. `read`, `write`: a read-write lock is held in this mode. `held`: a lock of
   * another kind is held, a permit with a lease is taken, or a semaphore without leases has no
   * available permit. `closed`: a latch is not open, or parties of a barrier wait. `free`: none of
   * these states.
   */
  readonly state: 'free' | 'held' | 'read' | 'write' | 'closed'
  /** The state in words for users: `held`, `2 of 3 taken`, `closed, 2 to go`, `leader`. */
  readonly stateText: string
  /**
   * Sentences about a problem that users should know although the lock is free, such as a run of a
   * job that has failed. Undefined without such a problem.
   */
  readonly problem?: string
}

/** The facts from which a kind makes the state of one lock. */
export interface StateFacts {
  readonly holders: readonly unknown[]
  /** The mode of a held read-write lock: `read` or `write`. Undefined for other locks. */
  readonly mode: string | undefined
  readonly count: CountFacts | null
  /** False if the number of permits of a semaphore is not set. True for other kinds. */
  readonly isSet: boolean
  /** The runs of a job. Undefined for other kinds. */
  readonly job?: JobInfo | undefined
}

/** The facts from which a kind explains how one lock becomes free. */
export interface FreeFacts {
  readonly count: CountFacts | null
  readonly stateText: string
  readonly waiting: number
}

/** The properties of one kind of hold. The history has a name for each kind of hold. */
export interface HoldView {
  /** If another owner begins a hold of one of these kinds, this hold has ended. */
  readonly endedBy: readonly KindName[]
  /** The kind that the page shows for such a hold. By default, its own kind. */
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

/** The words on the page of the dashboard for one kind. */
export interface PageWords {
  /** The heading above one holder, and above several holders. */
  readonly holder: readonly [one: string, many: string]
  /** The words before the age of a hold. */
  readonly heldFor: string
  /** The heading above the waiters. */
  readonly waiting: string
  /** The thing that a release by force takes, such as `lock`. */
  readonly what: string
  /** The held thing and its verb, such as `lock is`. */
  readonly it: string
  /** True if the hold count is a number of permits. */
  readonly holdsPermits: boolean
  /** How serious a hold without an expiry is. */
  readonly endless: 'warn' | 'bad'
  /** The last word of the CSS class of the state mark. If null, the last word is the state. */
  readonly stateClass: string | null
  /**
   * The words about waiters that cannot continue. If a lock has this `stateText`, the page shows
   * `text` after the number of waiters. Null for a kind without such a state.
   */
  readonly unusable: { readonly stateText: string; readonly text: string } | null
}

/** How the tools show one kind of lock. Each kind has one file in this folder. */
export interface KindView<K extends string = string> {
  /** The name of the kind, which tables and JSON show. */
  readonly kind: K
  stateOf(facts: StateFacts): State
  /**
   * Reads one lock of this kind on a server without scripts, with the public API of a client.
   * Undefined for a kind whose locks another kind reads.
   *
   * @returns null if no lock of this kind has the name. Rejects if another kind uses the name
   */
  read?(client: Holdfast, name: string): Promise<Concluded | null>
  /**
   * The words for the kind in the error for a name of another kind, such as `a latch`. If the
   * server says that a name belongs to a kind with these words, the tools try this kind first.
   */
  readonly inErrors?: string
  /**
   * False if no lock of this kind has such a name. `name` has the `keyPrefix` of its clients. By
   * default, all names are possible.
   */
  isPossibleName?(name: string): boolean
  /**
   * True if the owners of such locks have labels. If a lock that another kind has read has an owner
   * with a label, the lock is of this kind.
   */
  readonly hasLabels?: boolean
  /**
   * The kinds of holds of such a lock, by their names in the history. Undefined for a kind without
   * holds of its own.
   */
  readonly holds?: Readonly<Partial<Record<KindName, HoldView>>>
  /** Returns the kind of the hold that this owner has. By default, the first kind in `holds`. */
  holdOf?(owner: string): KindName
  /** False if `npx holdfast inspect` shows no token for this kind. True by default. */
  readonly hasToken?: boolean
  /**
   * False if a release by force returns no fence, because other holders may have lower tokens. Then
   * the command for the release must name the owner. True by default.
   */
  readonly hasFence?: boolean
  /**
   * True if one owner id may hold the lock again after it has released the lock. Then only the
   * token identifies a hold.
   */
  readonly reusesOwners?: boolean
  /**
   * True if some waiters may have no place in a queue, so that only the reports of clients name
   * them.
   */
  readonly hidesWaiters?: boolean
  /** False if waiters are no problem, such as the candidates of an election. True by default. */
  readonly countsWaiters?: boolean
  /**
   * True if `findLeaks` checks such locks for holders of unknown processes, and for waiters of free
   * locks.
   */
  readonly leaks?: boolean
  /** Returns further lines for `npx holdfast inspect`, each with its heading and its text. */
  lines?(facts: FreeFacts): string[][]
  /** Returns sentences that say how a lock becomes free. Only for kinds without known holders. */
  toFree?(facts: FreeFacts): string[]
  /**
   * Returns a sentence about what a user must do before a free lock can be used. Undefined if
   * nothing is needed.
   */
  toUse?(facts: FreeFacts): string | undefined
  /** The words for a free lock. By default, `it is free`. */
  readonly whenFree?: string
  /** A sentence that says when a hold ends, for use after the sentences about the holders. */
  readonly endOfHold?: string
  /** Returns a sentence about a holder of an unknown process. The lease ends after `wait`. */
  ofUnknown?(owner: string, wait: string): string
  /**
   * Why the tools refuse a release by force, as words after the name of the lock. Undefined if the
   * tools allow the release.
   */
  readonly whyNoForce?: string
  /**
   * Returns a sentence that says why no holder can have this owner id; undefined if a holder can.
   */
  ownerRefusal?(name: string, owner: string): string | undefined
  /** The words of the dashboard for this kind, if they differ from the words for a lock. */
  readonly page?: Partial<PageWords>
}
