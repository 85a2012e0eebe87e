import { LeaseLostError, NotHeldError } from '../../errors.ts'
import type { CurrentOwner, Doubt } from '../../owner/current-owner.ts'
import type { StoredLease } from '../../owner/lease-holder.ts'

/** Makes the error of an `unlock()` that found no acquisition. */
export function notHeld(name: string, currentOwner: CurrentOwner<StoredLease>): NotHeldError {
  return new NotHeldError(
    `Lock "${name}" was not unlocked: the caller does not hold it. unlock() was called ${where(currentOwner)}. ` +
      `A lease of using() ends with using(); any other lease has its own release().${endedBefore(currentOwner)}`,
    name,
  )
}

/**
 * Describes the lease that an earlier `unlock()` of this object released, perhaps for the wrong
 * task. Returns an empty text if there was no such `unlock()`. The object then forgets this lease.
 */
export function endedBefore(currentOwner: CurrentOwner<StoredLease>): string {
  const inDoubt = currentOwner.takeEndedInDoubt()
  if (inDoubt === undefined) return ''
  return (
    ` An unlock() of the same object ended the lease with token ${inDoubt.token}, ${inDoubt.agoMs} ms ago. It may have ` +
    "been another task's call. If the lease was yours, you have not held the lock since."
  )
}

function where(actor: CurrentOwner<StoredLease>): string {
  if (actor.explicit !== undefined) {
    return 'on a lock object with an owner, so it releases only acquisitions of that owner'
  }
  return actor.leaseHolder() === actor
    ? 'outside any frame of run(), so it releases only acquisitions of this lock object'
    : 'in a frame, so it releases only acquisitions of lock() in the same frame'
}

/**
 * Makes the error of an `unlock()` that found a lost lease, while this object holds a later lease.
 * `unlock()` does not release the later lease, because another task may hold it.
 */
export function lostBefore(loss: Error, held: { readonly token: number }): Error {
  if (!(loss instanceof LeaseLostError)) return loss
  return new LeaseLostError(
    `${loss.message} A later acquisition of this lock (token ${held.token}) is still held here. unlock() did ` +
      'not release it, because it may belong to another task. If it is your own, call unlock() again.',
    loss.lockName ?? '',
    loss.reason,
    loss.token,
  )
}

const WHY = {
  loss: 'The object had lost a lease before',
  others:
    'While this lease was requested or held, another call of the same lock object was under way or failed',
}

/**
 * Returns a function that makes the abort reason for a lease that `unlock()` released. The abort
 * warns the task that holds the lease, because another task may have called `unlock()`.
 */
export function endedByUnlock(doubt: Doubt): (lease: { name: string; token: number }) => Error {
  return ({ name, token }) =>
    new LeaseLostError(
      `The lease of lock "${name}" (token ${token}) was ended by an unlock() of the lock object that ` +
        `acquired it. ${WHY[doubt]}, so unlock() may have been the call of another task. Unless the call was ` +
        "yours, stop the work that the lease protects. release() of a lease never ends another task's lease.",
      name,
      'forced',
      token,
    )
}
