/** A command of Redis, as `askAll` takes it. */
export type KindCommand = readonly (string | number)[]

/** The number in the key of a semaphore or a latch, and the values that follow from it. */
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
  /** The mode of a read-write lock, from its hash; undefined for other locks. */
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

/** The first look at a name, which decides the further requests. */
export interface Found {
  readonly key: string
  /** The type of the key. */
  readonly type: string
  /** The length of the queue of a fair lock. */
  readonly queued: number
  /** The server time, in milliseconds. */
  readonly nowMs: number
  readonly isCluster: boolean
}

/** The answers to the requests of `questions`. */
export interface Answers {
  /** The type of the key with the name of the lock. */
  readonly type: string
  readonly nowMs: number
  readonly isCluster: boolean
  /** The answer to the request of that name; undefined for an error, or without such a request. */
  answer(name: string): unknown
}

/** A name of one kind, as `conclude` finds it. */
export interface Concluded {
  readonly count: CountFacts
  /** The clients or owners that wait. */
  readonly waiting: readonly string[]
  /** The access that they request, as in a `WaiterRow`. */
  readonly wants: string
}

/** A release by force, before its script is chosen. */
export interface Taking {
  readonly key: string
  /** The holder; for a permit, its id. */
  readonly owner: string
  readonly token: number | null
  /** Every later token is above this number. */
  readonly floor: number
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /** For how long a master remembers the owner, in milliseconds; 0 for a single server. */
  readonly forcedMs: number
}

/** One run of a script of `lua/admin/`. */
export interface Take {
  readonly script: 'takeLock' | 'takePermit' | 'takeReadWrite'
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/** The rights that one kind of lock needs. A test compares them with docs/reference/keys.md. */
export interface Needs {
  readonly kind: string
  /** The commands for `ACL DRYRUN`, with arguments as this kind sends them. */
  readonly commands: readonly (readonly string[])[]
  /** Keys as `~pattern`, each for reading and writing, and channels as `&pattern`. */
  readonly patterns: readonly string[]
}

/** The names with which rights are checked. */
export interface RightNames {
  /** The key of an unused lock. */
  readonly lock: string
  readonly keyPrefix: string
  /** Patterns of the keys of all locks with these prefixes. */
  own(...prefixes: string[]): string[]
  /** The pattern of the channels of all locks with this prefix. */
  channel(prefix: string): string
}

/** One kind of locks, as the tools read and show it. Each kind has one file in this folder. */
export interface KindView<K extends string = string> {
  /** The kind of a row, which tables and JSON show. */
  readonly kind: K
  /** The prefixes of keys that contain the name of a lock and prove that it exists. */
  readonly named: readonly string[]
  /** The prefixes of keys that normally expire. */
  readonly expiring: readonly string[]
  /** The requests that read the kind, by names. Kinds may share a name for the same request. */
  questions(found: Found): Record<string, KindCommand>
  /** Returns the facts of a name of this kind; null for another kind. For kinds with their own type of key. */
  conclude?(answers: Answers): Concluded | null
  stateOf(facts: StateFacts): State
  /** False if the kind has no fencing tokens. Default: true. */
  readonly hasToken?: boolean
  /** True if holders of this kind are judged as leaks when their process is unknown. */
  readonly leaks?: boolean
  /** Further lines of `inspect`. */
  lines?(facts: FreeFacts): string[][]
  /** How a name becomes free, for a kind whose holders are unknown. */
  toFree?(facts: FreeFacts): string[]
  /** Why a release by force is refused, as words after the name. Left out if it is possible. */
  readonly whyNoForce?: string
  force?(taking: Taking): Take
  rights?(names: RightNames): Needs
}
