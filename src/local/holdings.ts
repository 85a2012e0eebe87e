import type { KindName } from '../diagnostics.ts'
import type { HoldEvent } from '../events.ts'

/**
 * The kind of a lock that a client holds or waits for. The diagnostics channels use the same words, but not the last
 * five.
 */
export type HeldKind = KindName | 'election' | 'latch' | 'barrier' | 'rate' | 'redlock'

/** One hold of a client: a lock, permits, or a term as leader. */
export interface HeldEntry {
  /** The name that was given to `getLock` or a similar method. For a RedLock, the names of its locks. */
  readonly name: string
  readonly kind: HeldKind
  /** The owner as Redis stores it. Null for permits of `getSemaphore`, which have no owner. */
  readonly owner: string | null
  /** The fencing token. Null for permits of `getSemaphore`, which have no token. */
  readonly token: number | null
  /** The hold count: the number of acquisitions that are not released yet. */
  readonly holdCount: number
  /** How long the owner has held the lock, in milliseconds. */
  readonly heldMs: number
  /**
   * How long the lease is still valid without a renewal, in milliseconds. 0 while `close()` releases the hold. Null for
   * permits of `getSemaphore`, which have no lease.
   */
  readonly remainingMs: number | null
  /** The number of permits. Undefined for locks and elections. */
  readonly permits?: number
  /** The label of the candidate of an election; otherwise undefined. */
  readonly label?: string
}

/** A hold that `close()` ended. */
export type CutOffHold = HeldEntry & HoldEvent

/** One pending call: it waits for a lock, for permits, to lead, for a latch, for a rate limiter, or at a barrier. */
export interface WaitingEntry {
  readonly name: string
  readonly kind: HeldKind
  /** The owner of the call, as Redis stores it. Null for a latch, and before the first request. */
  readonly owner: string | null
  /** How long the call has waited, in milliseconds. */
  readonly waitedMs: number
  /**
   * The longest wait of the call, in milliseconds. 0 if the call does not wait, null if the call
   * waits forever.
   */
  readonly waitMs: number | null
  /** The last known holder. Null if no holder is known. */
  readonly holder: string | null
  readonly permits?: number
  readonly label?: string
}

/**
 * All locks that one client holds or waits for at one moment. Both lists begin with the longest times. The object is
 * plain data, for logs.
 */
export interface Holdings {
  readonly held: readonly HeldEntry[]
  readonly waiting: readonly WaitingEntry[]
}
