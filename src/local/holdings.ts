import type { KindName } from '../diagnostics.ts'
import type { HoldEvent } from '../events.ts'

/** What a client holds or waits for: the kinds of the diagnostics channels, and three that these do not tell apart. */
export type HeldKind = KindName | 'election' | 'latch' | 'redlock'

/** One hold of a client: a lock, permits, or a term of leading. */
export interface HeldEntry {
  /** The name as it was given to `getLock` and the like; of a RedLock the names of its locks. */
  readonly name: string
  readonly kind: HeldKind
  /** The owner as Redis knows it; null for permits of `getSemaphore`, which have none. */
  readonly owner: string | null
  /** The fencing token; null for permits of `getSemaphore`. */
  readonly token: number | null
  /** How many acquisitions are not released. */
  readonly holdCount: number
  /** For how long it has been held, in milliseconds. */
  readonly heldMs: number
  /**
   * How long it may still be relied upon unless it is renewed, in milliseconds; 0 while `close()` releases it; null
   * for permits of `getSemaphore`, which have no lease.
   */
  readonly remainingMs: number | null
  /** How many permits; only for those of a semaphore. */
  readonly permits?: number
  /** The label of the candidate; only for an election. */
  readonly label?: string
}

/** A hold that `close()` took away. */
export type CutOffHold = HeldEntry & HoldEvent

/** One call that is not answered yet: it waits for a lock, for permits, to lead, or for a latch. */
export interface WaitingEntry {
  readonly name: string
  readonly kind: HeldKind
  /** The owner that it acquires for, as Redis knows it; null for a latch, and before the first request. */
  readonly owner: string | null
  /** For how long the call has waited, in milliseconds. */
  readonly waitedMs: number
  /** Its longest wait, in milliseconds: 0 if it does not wait, null if it waits forever. */
  readonly waitMs: number | null
  /** The owner that was last seen to hold it; null if that is not known. */
  readonly holder: string | null
  readonly permits?: number
  readonly label?: string
}

/** What one client holds and waits for at one moment, the longest first. It is plain data, for logs. */
export interface Holdings {
  readonly held: readonly HeldEntry[]
  readonly waiting: readonly WaitingEntry[]
}
