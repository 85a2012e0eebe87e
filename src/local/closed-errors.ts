import { ClosedError } from '../errors.ts'

export function closedError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client was closed: it holds nothing and waits for nothing any more. If the process is not about to end, ' +
      'make a new client.',
    lockName,
  )
}

/** It is about to be closed, and waits for what is held. */
export function closingError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client is being closed: it waits until its locks are released, and acquires no more. ' +
      'If the process is not about to end, make a new client.',
    lockName,
  )
}
