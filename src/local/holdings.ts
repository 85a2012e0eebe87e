import type { KindName } from '../diagnostics.ts'
import type { HoldEvent } from '../events.ts'

/** The kind of lock that a client holds or waits for: the kinds of the diagnostics channels and three more. */
export type HeldKind = KindName | 'election' | 'latch' | 'barrier' | 'redlock'

/** One hold of a client: a lock, permits, or a term as leader. */
export interface HeldEntry {
  /** The name that was given to `getLock` or a similar method; for a RedLock, the names of its locks. */
  readonly name: string
  readonly kind: HeldKind
  /** The owner as Redis stores it; null for permits of `getSemaphore`, which have none. */
  readonly owner: string | null
  /** The fencing token; null for permits of `getSemaphore`. */
  readonly token: number | null
  /** The hold count: how many acquisitions are not released yet. */
  readonly holdCount: number
  /** How long the owner has held the lock, in milliseconds. */
  readonly heldMs: number
  /**
   * How long the lease is still valid without a renewal, in milliseconds. 0 while `close()` releases the hold. Null for
   * permits of `getSemaphore`, which have no lease.
   */
  readonly remainingMs: number | null
  /** The number of permits; only for a semaphore. */
  readonly permits?: number
  /** The label of the candidate; only for an election. */
  readonly label?: string
}

/** A hold that `close()` ended. */
export type CutOffHold = HeldEntry & HoldEvent

/** One pending call: it waits for a lock, for permits, to lead, or for a latch. */
export interface WaitingEntry {
  readonly name: string
  readonly kind: HeldKind
  /** The owner of the call, as Redis stores it; null for a latch, and before the first request. */
  readonly owner: string | null
  /** How long the call has waited, in milliseconds. */
  readonly waitedMs: number
  /**
   * The longest wait of the call, in milliseconds: 0 if the call does not wait, null if it waits
   * forever.
   */
  readonly waitMs: number | null
  /** The last known holder; null if unknown. */
  readonly holder: string | null
  readonly permits?: number
  readonly label?: string
}

/** All locks that one client holds or waits for at one moment, the longest times first. It is plain data, for logs. */
export interface Holdings {
  readonly held: readonly HeldEntry[]
  readonly waiting: readonly WaitingEntry[]
}
