import { ClosedError } from '../errors.ts'

export function closedError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client is closed. It holds no locks and waits for none. If the process is not about to end, ' +
      'create a new client.',
    lockName,
  )
}

/** Makes the error for a new acquisition while the client drains. */
export function closingError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client is closing. It waits until its locks are released, and acquires no new locks. ' +
      'If the process is not about to end, create a new client.',
    lockName,
  )
}
