import { acquire } from '../../local/acquire.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { AcquireRequest } from '../../waiting/waiter.ts'
import type { PermitKinds } from './permit-kinds.ts'
import { permitsTimeout } from './permits-timeout.ts'
import { whyNoPermits } from './why-no-permits.ts'

interface StartedAcquisition<Result> {
  readonly lock: LocalLock
  readonly acquiring: Promise<Result | null>
}

/** @param wanted its owner must be new, so that the acquisition never re-enters another acquisition */
export function startAcquisition<Result, Request extends AcquireRequest>(
  locks: LocalLocks,
  { name, rawName }: { readonly name: string; readonly rawName: string },
  kind: LockKind<Result, Request>,
  wanted: Request,
): StartedAcquisition<Result> {
  const lock = locks.lock(name, rawName)
  return { lock, acquiring: acquire(lock, kind, wanted) }
}

/**
 * Waits for the acquisition.
 *
 * @returns the permits; rejects with `WaitTimeoutError` if they are not acquired in time
 */
export async function acquiredInTime<Result>(
  { lock, acquiring }: StartedAcquisition<Result>,
  wanted: { readonly permits: number; readonly waitMs: number },
  kinds: Pick<PermitKinds<Result, AcquireRequest>, 'seenOf' | 'setBy'>,
  locks: LocalLocks,
): Promise<Result> {
  const beganAt = locks.clock.monotonic()
  const acquired = await acquiring
  if (acquired !== null) return acquired
  const waitedMs = locks.clock.monotonic() - beganAt
  const seen = kinds.seenOf(lock)
  const sight = seen && { ...seen, name: lock.name, setBy: kinds.setBy, waiting: null }
  const why = sight && whyNoPermits(sight, locks, locks.clock.now().wall)
  throw permitsTimeout(lock.name, wanted, waitedMs, why)
}
