import type { AcquireAnswer, HandOverAnswer, ReenterAnswer, Released } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import type { Hint } from '../../hint.ts'
import type { LockKeys } from '../../redis/calls/keys.ts'
import type { Reply } from '../../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'

/** One master, as a lock uses it. Each method returns before it completes its reply. */
export interface Voter {
  /** The name of the master in errors. */
  readonly label: string
  readonly server: { readonly whyDown: CallFailure | undefined }
  /** The response time of the master to requests for votes. */
  readonly roundTrip: { readonly usualMs: number }
  /** Asks for a vote. If the master must be enrolled first, enrols the master and asks again. */
  acquire(keys: LockKeys, attempt: Attempt, reply: Reply<AcquireAnswer>): void
  reenter(keys: LockKeys, reentry: Reentry, reply: Reply<ReenterAnswer>): void
  handOver(keys: LockKeys, passing: Passing, reply: Reply<HandOverAnswer>): void
  /** Lowers the hold count of an owner id. */
  lower(keys: LockKeys, ending: LoweredHold, reply: Reply<Released>): void
  /** Releases the hold of the owner id at `fromMs` or later, on `performance.now()`. */
  abandon(keys: LockKeys, owner: string, fromMs?: number): void
  /** @returns true if the owner holds the lock here, and the counter here is not below the token */
  agree(keys: LockKeys, owner: string, token: number, callMs: number): Promise<boolean>
  listen(keys: LockKeys, onHint: (hint: Hint) => void): Subscription
  /** Returns the rank of this master for this lock. All clients compute the same rank. */
  rank(keys: LockKeys): number
}
