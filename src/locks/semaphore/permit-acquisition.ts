import type { Lease } from '../../lease/lease.ts'
import { acquire } from '../../local/acquire.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { AcquireRequest } from '../../waiting/waiter.ts'
import type { PermitKinds } from './permit-kinds.ts'
import { permitsTimeout } from './permits-timeout.ts'
import { whyNoPermits } from './why-no-permits.ts'

/**
 * The options of an acquisition of permits. The number of permits is not an option, because the
 * kind contains it.
 */
type PermitTerms = Pick<
  AcquireRequest,
  'leaseMs' | 'watched' | 'maxHoldMs' | 'waitMs' | 'signal' | 'scoped'
>

interface StartedAcquisition {
  readonly lock: LocalLock
  readonly acquiring: Promise<Lease | null>
}

/**
 * Begins an acquisition for a new owner. So the acquisition never re-enters another acquisition.
 */
export function startAcquisition(
  locks: LocalLocks,
  { name, rawName }: { readonly name: string; readonly rawName: string },
  kind: LockKind,
  wanted: PermitTerms,
): StartedAcquisition {
  const owner = locks.newOwner()
  const lock = locks.lock(name, rawName)
  const acquiring = acquire(lock, kind, {
    ...wanted,
    owner,
    kind,
    known: false,
    isSingleAttempt: false,
    keepMs: 0,
    together: undefined,
    leaseHolder: owner,
    calledAt: Infinity,
  })
  return { lock, acquiring }
}

/**
 * Waits for the acquisition.
 *
 * @returns the lease of the permits; rejects with `WaitTimeoutError` if they are not acquired in time
 */
export async function acquiredInTime(
  { lock, acquiring }: StartedAcquisition,
  wanted: { readonly permits: number; readonly waitMs: number },
  kinds: PermitKinds,
  locks: LocalLocks,
): Promise<Lease> {
  const beganAt = locks.clock.monotonic()
  const lease = await acquiring
  if (lease !== null) return lease
  const waitedMs = locks.clock.monotonic() - beganAt
  const seen = kinds.seenOf(lock)
  const sight = seen && { ...seen, name: lock.name, setBy: kinds.setBy, waiting: null }
  const why = sight && whyNoPermits(sight, locks, locks.clock.now().wall)
  throw permitsTimeout(lock.name, wanted, waitedMs, why)
}
