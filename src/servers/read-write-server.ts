import type {
  AcquireAnswer,
  Gone,
  LeaseToRenew,
  ReadWriteFacts,
  ReenterAnswer,
  Released,
} from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import type { Confirm } from './durability.ts'
import type { Reply } from './reply.ts'
import type { Attempt, Ending, Reentry } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** What the name of one who writes ends with, as Redisson has it. */
export const WRITE_SUFFIX = ':write'

/**
 * The same for one who reads and may go on to write: one at a time. A client that waits for that waits under its name
 * with this suffix, among those who wait to write.
 */
export const UPGRADABLE_SUFFIX = ':upgradable'

export function isWriter(owner: string): boolean {
  return owner.endsWith(WRITE_SUFFIX)
}

/** Of an owner that reads and may go on to write, or of a client that waits for that. */
export function isUpgradable(name: string): boolean {
  return name.endsWith(UPGRADABLE_SUFFIX)
}

/** What a place must be able to do where read-write locks live, as one client sees it. */
export interface ReadWriteServer {
  /** One read-write lock there. */
  lock(rawName: string): RemoteReadWriteLock
  /** As with `LockServer`: for holds of either kind. */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** As with `LockServer`. */
  readonly confirm?: Confirm | undefined
  /** As with `LockServer`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** One read-write lock at its place. */
export interface RemoteReadWriteLock {
  /** Takes it to read, or waits for that: beside others who read, and of upgradable ones in turn. */
  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void
  rereads(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /** Takes it to write, or waits for that: alone. `Gone` if its owner lost the upgradable lock beside it. */
  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void
  rewrites(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Lowers the hold count of one who reads or writes; at zero it has the lock no more.
   *
   * @param isLast whether nobody of this client is next to ask for the same kind
   */
  release(ending: Ending, isLast: boolean, reply: Reply<Released>): void
  /** Ends what that owner has, by force. */
  forceRelease(owner: string, callMs: number): Promise<boolean>
  /** As with `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  inspect(callMs: number): Promise<ReadWriteFacts>
  /** As with `RemoteLock`: the messages are those of {@link isMeant}. */
  listen(onWake: (message?: string) => void): Subscription
}

export interface WaitingAttempt extends Attempt {
  /** The name under which the same owner has the lock as the other kind; '' for none. */
  readonly beside: string
  /** Whether its client waits where it is refused. */
  readonly waits: boolean
  /** Of a plain reader: whether nobody else of its client waits to read. */
  readonly isLast: boolean
}

/**
 * Whether a message is for one who waits.
 *
 * @param since if it waits to write or for the upgradable lock: since when, as the place has told it; '' of a reader
 */
export function isMeant(message: string, since: string): boolean {
  // Those of Redisson's clients are for all.
  if (message === '0' || message === '1') return true
  return message === (since || '2')
}

/**
 * Whether a message says that the lock was let go: by its last reader, or by a writer.
 *
 * @param byWriter whether only a writer counts: readers keep no other reader out
 */
export function isReleaseOf(message: string, byWriter: boolean): boolean {
  // Ours, and those of Redisson.
  const byReader = !byWriter && (message === '00' || message === '0')
  return byReader || message === '01' || message === '1'
}
