import { LeaseLostError, NotHeldError } from '../../errors.ts'
import type { CurrentOwner, Doubt } from '../../owner/current-owner.ts'
import type { Kept } from '../../owner/holder.ts'

/** `unlock()` found nothing to undo. */
export function notHeld(name: string, currentOwner: CurrentOwner<Kept>): NotHeldError {
  return new NotHeldError(
    `Lock "${name}" was not unlocked: the caller does not hold it. It was called ${where(currentOwner)}. ` +
      `What using() holds it releases itself; any other lease has a release() of its own.${endedBefore(currentOwner)}`,
    name,
  )
}

/** What became of a lease whose holder may be the one that finds nothing now. */
export function endedBefore(currentOwner: CurrentOwner<Kept>): string {
  const ended = currentOwner.takeEndedInDoubt()
  if (ended === undefined) return ''
  return (
    ` The lease with token ${ended.token} was ended ${ended.agoMs} ms ago by an unlock() of the same object, which ` +
    "may have been another task's: if the lease was yours, the lock has not been held for you since."
  )
}

function where(actor: CurrentOwner<Kept>): string {
  if (actor.explicit !== undefined) {
    return 'on a lock object with an owner, where unlock() undoes what that owner acquired'
  }
  return actor.leaseHolder() === actor
    ? 'outside any frame of run(), where unlock() undoes what this very lock object acquired'
    : 'in a frame, where unlock() undoes what lock() acquired in the same frame'
}

/**
 * `unlock()` undid an acquisition that had been lost, while a later one through the same object is
 * held: nobody can tell whose call it was, and to release a lock that another task holds is worse.
 */
export function lostBefore(loss: Error, held: { readonly token: number }): Error {
  if (!(loss instanceof LeaseLostError)) return loss
  return new LeaseLostError(
    `${loss.message} A later acquisition of it here (token ${held.token}) is still held: unlock() did ` +
      'not touch it, for it may be that of another task. If it is your own, call unlock() again.',
    loss.lockName ?? '',
    loss.reason,
    loss.token,
  )
}

const WHY = {
  loss: 'That object has lost a lease before',
  others:
    'Another call through that object was under way or got nothing while this lease was asked for or held',
}

/** `unlock()` undid an acquisition, and may have been called by who had none, or had one before that was lost. */
export function endedByUnlock(doubt: Doubt): (lease: { name: string; token: number }) => Error {
  return ({ name, token }) =>
    new LeaseLostError(
      `The lease of lock "${name}" (token ${token}) was ended by an unlock() of the lock object that ` +
        `acquired it. ${WHY[doubt]}, so it may have been the call of another task: stop the work that it ` +
        "protects, unless the call was yours. A release() of the lease cannot mean another's.",
      name,
      'forced',
      token,
    )
}
