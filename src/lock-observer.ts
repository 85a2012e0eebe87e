import type { AcquirePath, HoldOutcome, KeepFact, KindName, ReleaseFact } from './diagnostics.ts'

export interface ObservedRequest {
  readonly kind: { readonly name: KindName }
  readonly leaseMs: number
  readonly waitMs: number
  readonly isSingleAttempt?: boolean
}

export interface ObservedHold {
  readonly lockName: string
  readonly kind: { readonly name: KindName }
  readonly id: { readonly ownerId: string }
  readonly token: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly limitMs: number
  readonly loss: Error | undefined
}

export interface ObservedWaiter {
  readonly request: { readonly signal: AbortSignal | undefined }
  readonly announced: boolean
  readonly waitedMs: number
}

/** One call to acquire a lock. */
export interface AcquisitionObservation {
  /** Runs the synchronous part of the call in the async context of the observer. */
  start<T>(start: () => T): T
  /** Called when the client learns the holder of the lock. */
  heldBy(holder: string): void
  /**
   * @param hold null if the lock was not acquired in time
   * @param path how the lock was acquired; default: `raced` after a wait, otherwise `free`
   */
  resolved(waiter: ObservedWaiter, hold: ObservedHold | null, path?: AcquirePath): void
  rejected(waiter: ObservedWaiter, error: unknown): void
}

/** One hold, from its grant to its last release or its loss. */
export interface HoldObservation {
  /** Called at the last release, before the server confirms this release. */
  letGo(): void
  /** Called when the outcome is known. Later calls have no effect. */
  ended(outcome: HoldOutcome, error?: unknown, stalledMs?: number): void
}

/** The last release of one hold. */
export interface ReleaseObservation {
  /** Called after the synchronous part of the release. */
  started(): void
  ended(outcome: NonNullable<ReleaseFact['outcome']>, error?: unknown): void
}

/** The time in which the client keeps a lock that no owner holds. */
export interface KeepObservation {
  ended(outcome: NonNullable<KeepFact['outcome']>): void
}

/** One request of the watchdog, which renews one or more holds. */
export interface RenewalObservation {
  /** Called after the request was sent. */
  started(): void
  /**
   * @param error why the state of some holds is unknown; undefined if the server answered for all
   * holds
   */
  ended(renewed: number, gone: number, error: Error | undefined): void
}

/**
 * Observes the locks of a client. When an operation such as an acquisition begins, the client calls the method for this
 * operation.
 */
export interface LockObserver {
  acquiring(lockName: string, request: ObservedRequest): AcquisitionObservation
  /** @param acquisition the call that acquired the hold */
  holding(hold: ObservedHold, acquisition: AcquisitionObservation): HoldObservation
  releasing(hold: ObservedHold): ReleaseObservation
  /** @param hold the kept hold */
  keeping(hold: ObservedHold): KeepObservation
  /** @param lateMs how much later than planned the request is sent, in milliseconds */
  renewing(holds: number, lateMs: number): RenewalObservation
}

const nothing = (): void => {}

/** An observation that does nothing. */
export const UNOBSERVED = Object.freeze({
  start: <T>(start: () => T): T => start(),
  heldBy: nothing,
  resolved: nothing,
  rejected: nothing,
  letGo: nothing,
  started: nothing,
  ended: nothing,
})
