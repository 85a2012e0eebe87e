import type { JobCrashedEvent } from '../../events.ts'
import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockOptions, TryUsingOptions } from '../../options/options.ts'

/** The lock of a job. */
interface JobLock {
  using<T>(work: (lease: Lease) => Promise<T>, options: LockOptions): Promise<T>
  tryUsing<T, U>(work: (lease: Lease) => Promise<T>, options: TryUsingOptions<U>): Promise<T | U>
}

/** The parts of a client that its jobs use. */
export interface Jobs {
  readonly registry: LocalLocks
  /** The label of the client, for the records of runs. */
  readonly label: string
  /** The names of the jobs that this client runs, or waits for. */
  readonly busy: Set<string>
  /** Returns a lock with a new owner. */
  newLock(lockName: string): JobLock
  crashed(event: JobCrashedEvent): void
}
