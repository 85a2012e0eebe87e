import type { RowKind } from '../kinds/all.ts'
import type { CountFacts, State } from '../kinds/kind.ts'

/** The process of a client, as the client itself reports it: `holdfast_client:{<clientId>}`. */
export interface ProcessFacts {
  readonly client: string
  /** The `label` of the client; `<host>:<pid>` by default. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /**
   * How long ago the client last reported itself, in milliseconds. A client that is alive and uses
   * Redis does so every 20 s. Null if the client has an older version of Holdfast, which does not
   * report the time.
   */
  readonly seenMs: number | null
  /** The version of its wire format; null if an older version of Holdfast did not report it. */
  readonly wireVersion?: number | null
}

/** One holder of a lock or of permits. */
export interface HolderRow {
  /**
   * `<clientId>:<owner>`, as in Redis. For a permit whose owner is unknown, the id of the permit.
   */
  readonly owner: string
  /**
   * The process of the holder. Null if unknown: for Redisson, or if the client was closed or has
   * ended.
   */
  readonly process: ProcessFacts | null
  readonly isRedisson: boolean
  readonly holdCount: number
  /** The ids of its permits, 32 hex digits each; empty for a lock. */
  readonly permits: readonly string[]
  /** The time left of its lease in milliseconds; null without an expiry. */
  readonly ttlMs: number | null
  /** How long the owner has held it, in milliseconds; null if unknown. */
  readonly ageMs: number | null
}

/** One waiter: a client, or one place in a queue. */
export interface WaiterRow {
  /** `<clientId>:<owner>` of a place in a queue; `<clientId>` of other waiters. */
  readonly owner: string
  readonly process: ProcessFacts | null
  readonly waitedMs: number | null
  /**
   * True if its heartbeat has stopped. A waiter of a plain lock has none: true if its client no
   * longer reports itself.
   */
  readonly isDead: boolean
  /**
   * The access that the waiter requests, if the kind has several: `read`, `write`, `2 permits`.
   */
  readonly wants: string | null
}

export type { CountFacts, RowKind }

/** One lock, semaphore, latch or election, as the servers report it. */
export interface LockRow extends State {
  /** The key of the lock, with its `keyPrefix`. */
  readonly key: string
  readonly kind: RowKind
  readonly holders: readonly HolderRow[]
  /** The last fencing token issued; null if none is remembered. */
  readonly token: number | null
  /** The number of live waiters: places in the queue, or clients. */
  readonly waiting: number
  /**
   * The longest wait of a live waiter so far, in milliseconds; null without a waiter, or if
   * unknown.
   */
  readonly oldestWaitMs: number | null
  /** The numbers of a semaphore or a latch; null for other kinds. */
  readonly count: CountFacts | null
}

/** A row with everything else that is known about the lock. */
export interface LockDetail extends LockRow {
  /** The known waiters, dead ones included. The next waiter is first. */
  readonly queue: readonly WaiterRow[]
  /** With independent masters: the owner that each master names. Otherwise null. */
  readonly votes: string | null
}

/** The cost of all requests to the servers. */
export interface Cost {
  readonly commands: number
  readonly bytes: number
  readonly tookMs: number
}

export interface Unreachable {
  readonly address: string
  /** A sentence for users. */
  readonly reason: string
}

/** Keys that normally expire, but have no expiry. */
export interface EndlessKeys {
  readonly keys: readonly string[]
  /** The `redis-cli` command for the server that has the keys. */
  readonly cli: string
}

/** The locks of a deployment. Only `release` writes. */
export interface Deployment {
  /** The address for output. It contains no login. */
  readonly address: string
  readonly cost: Cost
  /**
   * The nodes of a cluster, or the minority of masters, that cannot be reached. Scans and looks
   * leave out the locks of such a node. Empty before the first request.
   */
  readonly unreachable: readonly Unreachable[]
  /**
   * Finds all locks, in chunks, each lock once. Small steps with pauses keep the server free for
   * other clients. A held lock is always found, even without a counter.
   *
   * @returns rejects with a readable Error if a server cannot be asked
   */
  scan(options?: {
    /** A pattern of keys, as in `SCAN MATCH`. */
    readonly pattern?: string
    /** With true, only held locks: counters and queues are not searched. */
    readonly heldOnly?: boolean
    readonly signal?: AbortSignal
  }): AsyncIterable<readonly LockRow[]>
  /** Finds keys that normally expire, but have no expiry. Keys of locks themselves are left out. */
  scanEndless(options?: { readonly signal?: AbortSignal }): AsyncIterable<EndlessKeys>
  /** Reads keys again that were found before. */
  look(keys: readonly string[]): Promise<readonly LockRow[]>
  /**
   * @param options.findWaiters also searches all clients for waiters of a plain lock, because the
   * keys of the lock do not name them. Not needed after a scan, which finds all clients
   * @returns null if no lock has that name; rejects with a readable Error if its server cannot be
   * reached
   */
  inspect(key: string, options?: { readonly findWaiters?: boolean }): Promise<LockDetail | null>
  /**
   * Takes the lock from the holder that was seen, and from no other holder. It raises the counter,
   * so that every later token is above all tokens that the holder could have. Then it grants the
   * lock to the next waiter, or wakes the waiters. The holder is not stopped: it learns of the
   * release at its next renewal.
   *
   * With several readers, it releases only that reader. For permits, it releases all permits of the
   * owner, or the permit with that id. If there is a history, the release is recorded there. An
   * error of the record is ignored.
   *
   * @param by the user that requests the release, for the history
   * @returns rejects with a readable Error if the outcome is unknown; a repeat is safe. Rejects
   * with `InvalidArgumentError` for a semaphore or a latch
   */
  release(key: string, seen: SeenHolder, by?: string): Promise<Forced>
  close(): Promise<void>
}

/** A holder, as in a row. */
export interface SeenHolder {
  readonly owner: string
  /** The token of the row. Null if the row has none; then any hold of that owner is released. */
  readonly token: number | null
}

export interface Forced {
  /** `changed`: another owner holds the lock now, and keeps it. */
  readonly outcome: 'released' | 'free' | 'changed'
  /**
   * The fence: a guard must refuse writes with tokens up to this number. Null if other owners with
   * such tokens still hold the lock, as readers and holders of permits may.
   */
  readonly fence: number | null
}
