import { ClosedError } from '../errors.ts'

export function closedError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client was closed: nothing waits or is held by it any more. Make a new one.',
    lockName,
  )
}

/** It is about to be closed, and waits for what is held. */
export function closingError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client is being closed: what is held is waited for, and nobody gets anything more by it. Make ' +
      'a new one.',
    lockName,
  )
}
