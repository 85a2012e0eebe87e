import type { JobInfo } from '../../src/index.ts'
import type { RowKind } from '../kinds/all.ts'
import type { BareHolder, BareWaiter, CountFacts } from '../kinds/concluded.ts'
import type { State } from '../kinds/kind.ts'

/** The process of a client, as the client reports itself. */
export interface ProcessFacts {
  readonly client: string
  /** The `label` of the client; `<host>:<pid>` by default. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /**
   * How long ago the client last reported itself, in milliseconds. A live client that sends
   * requests usually reports itself every 20 s. Null if an older version of Holdfast did not report
   * the time. 0 on a server without scripts, because reports have no time there.
   */
  readonly seenMs: number | null
  /**
   * The version of the wire format that the client uses. Null if unknown, for example because an
   * older version of Holdfast did not report the version.
   */
  readonly wireVersion?: number | null
}

/** One holder of a lock or of permits. */
export interface HolderRow extends BareHolder {
  /**
   * The process of the holder. Null if the process is unknown, as for Redisson or for a client that
   * ended long ago.
   */
  readonly process: ProcessFacts | null
  /**
   * How long the client of the holder has kept a plain lock without use, in milliseconds. Undefined
   * if an owner uses the lock. Also undefined below about 1 s, because clients report only longer
   * times.
   */
  readonly keptMs?: number
}

/** One waiter: a place in a queue, or a client that waits without a place. */
export interface WaiterRow extends BareWaiter {
  readonly process: ProcessFacts | null
}

/** One lock, semaphore, latch, barrier or election, as the servers report it. */
export interface LockRow extends State {
  /** The name of the lock, with the `keyPrefix` of its clients. */
  readonly key: string
  readonly kind: RowKind
  readonly holders: readonly HolderRow[]
  /** The last token that was issued. Null if the server remembers no token. */
  readonly token: number | null
  /**
   * The number of live waiters. This is the number of live places in the queue or of clients that
   * listen for the release, whichever is greater.
   */
  readonly waiting: number
  /**
   * The longest wait of a live waiter so far, in milliseconds. Null if there is no live waiter, or
   * if the time is unknown.
   */
  readonly oldestWaitMs: number | null
  /** The counts of a semaphore, of a latch or of a barrier. Null for other kinds. */
  readonly count: CountFacts | null
  /**
   * The runs of a job. Undefined for other kinds. A row has the last run only, so its `ended` is
   * empty.
   */
  readonly job?: JobInfo
}

/** The row of one lock, with its waiters and votes. */
export interface LockDetail extends LockRow {
  /**
   * The known waiters, including dead waiters. First the waiters with a place, usually in the order
   * of the queue. Then the others, the longest wait first.
   */
  readonly queue: readonly WaiterRow[]
  /**
   * The number of votes of each owner, such as `<owner>: 2, nobody: 1`. Null without independent
   * masters.
   */
  readonly votes: string | null
}

/**
 * The approximate cost of the requests to the servers so far. On a server without scripts, only
 * commands are counted.
 */
export interface Cost {
  readonly commands: number
  readonly bytes: number
  readonly tookMs: number
}

export interface Unreachable {
  readonly address: string
  /** The reason why the server cannot be reached, as a sentence for users. */
  readonly reason: string
}

/** A key of Holdfast that should expire, but has no expiry. */
export interface EndlessKey {
  readonly key: string
  /**
   * Commands that make the key expire, one for each server that has the key. A line that begins
   * with `#` is a remark.
   */
  readonly fix: readonly string[]
}

/** The locks that `list` yields. */
export interface ListOptions {
  /** Yields only locks whose names match this pattern, as in `SCAN MATCH`. */
  readonly pattern?: string
  /**
   * If true, yields only held locks. With Redis, does not search for counters and queues, and so
   * finds no semaphores.
   */
  readonly heldOnly?: boolean
  readonly signal?: AbortSignal
}

/** The user that asks the holders for a release, and the reason. The holders receive both texts. */
export interface ReleaseReason {
  readonly by: string
  readonly reason: string | undefined
}

/**
 * The interface of the tools to all locks on some servers. Only `forceRelease` changes locks. Each
 * parameter `key` is the name of a lock with the `keyPrefix` of its clients.
 */
export interface Inspection {
  /** The addresses of the servers, as text for users. The text contains no login. */
  readonly address: string
  readonly cost: Cost
  /**
   * The servers that cannot be reached: nodes of a cluster, or a minority of the masters. Empty
   * before the first request, and after a request has failed.
   */
  readonly unreachable: readonly Unreachable[]
  /** True if locks may be missing, because a master of the cluster is unreachable. */
  readonly isIncomplete: boolean
  /**
   * Yields the locks in chunks, each lock once. Also finds a held lock without a counter. Does not
   * find a latch, or a semaphore without leases, that only Redisson has used. With Redis, pauses
   * between the requests, so that the servers have time for other clients.
   *
   * @returns rejects with a readable Error if a server does not answer
   */
  list(options?: ListOptions): AsyncIterable<readonly LockRow[]>
  /** Yields keys that should expire but have no expiry. Does not check the main keys of locks. */
  listEndless(options?: Pick<ListOptions, 'signal'>): AsyncIterable<EndlessKey>
  /**
   * Reads the given locks. The result leaves out locks that do not exist, or whose server cannot be
   * reached.
   */
  read(keys: readonly string[]): Promise<readonly LockRow[]>
  /**
   * Reads everything about one lock.
   *
   * @param options.findWaiters if true, searches the reports of all clients for waiters of a plain
   * lock. Not needed after `list` without `heldOnly`, which finds all clients
   * @returns null if no lock has that name; rejects with a readable Error if its server cannot be
   * reached
   */
  inspect(key: string, options?: { readonly findWaiters?: boolean }): Promise<LockDetail | null>
  /**
   * Takes the lock from the holder `seen`, and from no other holder. If the result has a `fence`,
   * every later token is above all tokens that this holder may have. The code of the holder runs on
   * until the holder learns of the release at its next renewal.
   *
   * For permits, `seen.owner` is an owner, or the id of one permit. Wakes the next waiters. With
   * Redis, also records the release in a history with the default key. If the recording fails,
   * ignores the error.
   *
   * @param by the user that requests the release; recorded in the history
   * @returns rejects with a readable Error if the outcome is unknown; then the call may be
   * repeated. Rejects with `InvalidArgumentError` for a kind without known holders, and usually for
   * an impossible owner or token
   */
  forceRelease(key: string, seen: SeenHolder, by?: string): Promise<Forced>
  /**
   * Asks owners to release the lock soon. Each holder decides.
   *
   * @returns for each owner, true if its client confirmed the request. Rejects with a readable
   * Error if a server does not answer
   */
  requestRelease(
    key: string,
    owners: readonly string[],
    reason: ReleaseReason,
  ): Promise<readonly boolean[]>
  close(): Promise<void>
}

/** A holder that the caller saw in a {@link LockRow}. */
export interface SeenHolder {
  readonly owner: string
  /**
   * The token of the row. Ignored for some holders, such as readers and permits, and with several
   * masters. If null or ignored, the release ends any hold of the owner.
   */
  readonly token: number | null
}

export interface Forced {
  /**
   * `free`: the lock or the permits were free already. `changed`: another owner holds the lock now,
   * or the same owner has a newer token. In both cases, nothing was released.
   */
  readonly outcome: 'released' | 'free' | 'changed'
  /**
   * A store must refuse all tokens up to this number. Null if other holders may have such tokens, as
   * with readers and permits. Null if nothing was taken, but with several masters, a free lock may
   * have a fence.
   */
  readonly fence: number | null
}
