/** The process of a client, as it tells of itself: `holdfast_client:{<clientId>}`. */
export interface ProcessFacts {
  readonly client: string
  /** The `label` of the client; `<host>:<pid>` unless it was given another. */
  readonly label: string
  readonly host: string
  readonly pid: number
}

/** One who has a lock, or permits. */
export interface HolderRow {
  /** `<clientId>:<owner>`, as it stands in Redis. */
  readonly owner: string
  /** The process that it is of; null where that is not known: of Redisson, or of one that has gone. */
  readonly process: ProcessFacts | null
  readonly isRedisson: boolean
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null without an expiry. */
  readonly ttlMs: number | null
  /** Since when it has it, in milliseconds, as far as its token tells; null where it does not. */
  readonly ageMs: number | null
}

/** One client, or place in a queue, that waits. */
export interface WaiterRow {
  /** `<clientId>:<owner>` in a queue; `<clientId>` of others. */
  readonly owner: string
  readonly process: ProcessFacts | null
  readonly waitedMs: number | null
  /** Whether its heartbeat has stopped. */
  readonly isDead: boolean
}

export type RowKind = 'lock' | 'read-write' | 'permits' | 'semaphore' | 'latch'

/** One lock, or what else has a name, as the servers have it. */
export interface LockRow {
  /** Its key, with the `keyPrefix` in it. */
  readonly key: string
  readonly kind: RowKind
  /** How it is held; `free` also where permits are left. */
  readonly state: 'free' | 'held' | 'read' | 'write'
  readonly holders: readonly HolderRow[]
  /** The last fencing token issued; null where none is remembered. */
  readonly token: number | null
  /** How many wait, as far as that can be told: places in the queue, or clients that listen. */
  readonly waiting: number
  readonly oldestWaitMs: number | null
}

/** The same with all that can be known of it. */
export interface LockDetail extends LockRow {
  readonly queue: readonly WaiterRow[]
  /** What else is known: permits that are available, what a latch counts, votes of each master. */
  readonly more: Readonly<Record<string, string | number>>
}

/** What looking has cost the servers. */
export interface Cost {
  readonly commands: number
  readonly bytes: number
  readonly tookMs: number
}

/** Where locks live, to look at. It writes nothing but by `release`. */
export interface Deployment {
  /** For people; no login. */
  readonly address: string
  readonly cost: Cost
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
  scanEndless(options?: { readonly signal?: AbortSignal }): AsyncIterable<readonly string[]>
  /** Looks again at keys that were found before. */
  look(keys: readonly string[]): Promise<readonly LockRow[]>
  /** @returns null where there is nothing of that name */
  inspect(key: string): Promise<LockDetail | null>
  /**
   * Takes the lock from the holder that was seen, and from nobody else; raises the counter, so that every later token
   * is above all that the holder could have; and gives it to the next, or wakes those who wait. The holder is not
   * stopped by it: it finds out at its next renewal.
   *
   * Of a lock that several read only the one is taken; of permits only the one of that id. Where there is a history,
   * it is written down there, unless that is refused.
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
