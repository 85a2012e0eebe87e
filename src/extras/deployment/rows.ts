/** The process of a client, as the client itself reports it: `holdfast_client:{<clientId>}`. */
export interface ProcessFacts {
  readonly client: string
  /** The `label` of the client; `<host>:<pid>` by default. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /**
   * How long ago the client last reported itself, in milliseconds. A client that is alive and uses Redis does so every
   * 20 s. Null if a version before this field wrote it.
   */
  readonly seenMs: number | null
  /** The version of its wire format; null if a version of Holdfast before this field wrote it. */
  readonly wireVersion?: number | null
}

/** One holder of a lock or of permits. */
export interface HolderRow {
  /** `<clientId>:<owner>`, as it stands in Redis; of permits whose owner is unknown the id of the permit. */
  readonly owner: string
  /** The process of the holder; null if it is unknown: a client of Redisson, or one that was closed or is gone. */
  readonly process: ProcessFacts | null
  readonly isRedisson: boolean
  readonly holdCount: number
  /** The ids of its permits, 32 hex digits each; empty for a lock. */
  readonly permits: readonly string[]
  /** The time left of its lease in milliseconds; null without an expiry. */
  readonly ttlMs: number | null
  /** How long it has held, in milliseconds; null if that is unknown. */
  readonly ageMs: number | null
}

/** One waiter: a client, or one place in a queue. */
export interface WaiterRow {
  /** `<clientId>:<owner>` of a place in a queue; `<clientId>` of other waiters. */
  readonly owner: string
  readonly process: ProcessFacts | null
  readonly waitedMs: number | null
  /** True if its heartbeat has stopped. */
  readonly isDead: boolean
  /** What it waits for, of kinds that grant more than one thing: `read`, `write`, `2 permits`. */
  readonly wants: string | null
}

export type RowKind = 'lock' | 'election' | 'read-write' | 'permits' | 'semaphore' | 'latch'

/** The number in the key of a semaphore or a latch, and what follows from it. */
export interface CountFacts {
  /** Permits that can be acquired now, expired ones included; below 0 if fewer were set than are taken. */
  readonly available: number
  /** Permits that are held; null for a plain semaphore, where nobody can know. */
  readonly taken: number | null
  /** What is left to be counted down; null if it is no latch. */
  readonly toGo: number | null
}

/** One lock, semaphore, latch or election, as the servers have it. */
export interface LockRow {
  /** Its key, `keyPrefix` included. */
  readonly key: string
  readonly kind: RowKind
  /**
   * `free`: nobody holds it. `held`, `read`, `write`: held in that mode; permits are `held` while any is taken, and a plain
   * semaphore while none is available. `closed`: a latch that is not open.
   */
  readonly state: 'free' | 'held' | 'read' | 'write' | 'closed'
  /** The state in words: `held`, `2 of 3 taken`, `closed, 2 to go`, `leader`. */
  readonly stateText: string
  readonly holders: readonly HolderRow[]
  /** The last fencing token issued; null if none is remembered. */
  readonly token: number | null
  /** The number of live waiters: places in the queue, or clients. */
  readonly waiting: number
  /** How long the first live waiter has waited, in milliseconds; null if nobody waits or it is unknown. */
  readonly oldestWaitMs: number | null
  /** Null if it is a lock. */
  readonly count: CountFacts | null
}

/** The same with everything that can be known about it. */
export interface LockDetail extends LockRow {
  /** The waiters that are known one by one, dead ones included, the next one first. */
  readonly queue: readonly WaiterRow[]
  /** Of independent masters: which owner each of them names. */
  readonly votes: string | null
}

/** What looking has cost the servers. */
export interface Cost {
  readonly commands: number
  readonly bytes: number
  readonly tookMs: number
}

/** A server that cannot be reached. */
export interface Unreachable {
  readonly address: string
  /** For people. */
  readonly reason: string
}

/** Keys without an expiry that would otherwise end by themselves. */
export interface EndlessKeys {
  readonly keys: readonly string[]
  /** The `redis-cli` that leads to the server of the keys. */
  readonly cli: string
}

/** Where locks live, to look at. Only `release` writes. */
export interface Deployment {
  /** For people; no login. */
  readonly address: string
  readonly cost: Cost
  /**
   * Nodes of a cluster, or a minority of masters, that cannot be reached. Locks of such a node are left out of scans and
   * looks. Empty before the first question.
   */
  readonly unreachable: readonly Unreachable[]
  /**
   * All locks, in chunks as they are found, each once. Small steps with pauses, so that no server is kept busy; a
   * held lock is always found, also without a counter.
   *
   * @returns rejects with an Error for people where a server cannot be asked
   */
  scan(options?: {
    /** As `SCAN MATCH`, of the key. */
    readonly pattern?: string
    /** Leaves out those that nobody has: counters and queues are not looked for. */
    readonly heldOnly?: boolean
    readonly signal?: AbortSignal
  }): AsyncIterable<readonly LockRow[]>
  /** Keys beside those of locks that would end by themselves, and have no expiry. */
  scanEndless(options?: { readonly signal?: AbortSignal }): AsyncIterable<EndlessKeys>
  /** Looks again at keys that were found before. */
  look(keys: readonly string[]): Promise<readonly LockRow[]>
  /**
   * @param options.findWaiters also looks through all names for the clients that wait for a plain lock, which its own keys
   * do not tell; a scan before has found them already
   * @returns null if there is nothing of that name; rejects with an Error for people if its server cannot be reached
   */
  inspect(key: string, options?: { readonly findWaiters?: boolean }): Promise<LockDetail | null>
  /**
   * Takes the lock from the holder that was seen, and from nobody else; raises the counter, so that every later token
   * is above all that the holder could have; and gives it to the next, or wakes those who wait. The holder is not
   * stopped by it: it finds out at its next renewal.
   *
   * Of a lock with several readers only that reader is taken; of permits all that this owner holds, or the one of that
   * id. If there is a history, the release is recorded there, unless that is refused.
   *
   * @param by who wants it, for the history
   * @returns rejects with an Error for people where it is not known to be done: it can be repeated; and with
   * `InvalidArgumentError` for a semaphore or a latch
   */
  release(key: string, seen: SeenHolder, by?: string): Promise<Forced>
  close(): Promise<void>
}

/** A holder as a row has it. */
export interface SeenHolder {
  readonly owner: string
  /** The token of the row; null where none was remembered: then it is whatever hold that owner has. */
  readonly token: number | null
}

export interface Forced {
  /** `changed`: somebody else has it by now, and keeps it. */
  readonly outcome: 'released' | 'free' | 'changed'
  /**
   * Up to which, this one included, a guard is to refuse writes; null where it would refuse others as well: those who
   * read on, or have other permits, or who have the lock by now.
   */
  readonly fence: number | null
}
