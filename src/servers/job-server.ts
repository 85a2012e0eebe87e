import { LOCK_WORDS, type ServerKind } from './server-kind.ts'

/**
 * The record of one job on a server. Each call settles within its `callMs`. A failed call rejects with
 * a `CallFailure`.
 */
export interface RemoteJob {
  /** Begins a run, if no earlier run serves the call. A repeat with the same token changes nothing. */
  startRun(start: JobStart, callMs: number): Promise<Begun>
  /** Stores how a run ended. A repeat changes nothing. */
  finishRun(outcome: JobOutcome, callMs: number): Promise<Finished>
  /** @param most the largest number of ended runs to read */
  inspect(most: number, callMs: number): Promise<JobFacts>
}

export interface JobStart {
  /** The owner that holds the lock of the job, as the server stores it. */
  readonly owner: string
  /** The token of its hold. */
  readonly token: number
  /** The label of the client. */
  readonly by: string
  readonly atLeastMs: number
  /** The interval of the schedule, in milliseconds; 0 if unknown. */
  readonly everyMs: number
  /** The scheduled time in ms since 1970; '' if unknown. */
  readonly tick: number | ''
  /** True if a run that crashed is repeated. */
  readonly repeats: boolean
  /** Returns how long ago the caller asked for the run, in milliseconds. */
  readonly waitedMs: () => number
  /** How long the server keeps the record of the job, in milliseconds. */
  readonly keepMs: number
  /** How many ended runs the server keeps at most. */
  readonly mostRuns: number
}

export type Begun =
  | {
      readonly kind: 'begun'
      /** When the run began, in µs of the server's time. */
      readonly startedUs: number
      /** How many ticks have passed without a run, before this run. */
      readonly missed: number
      /** The earlier run, if this call found that the run had crashed. */
      readonly crashed: StoredRun | null
    }
  /** An earlier run serves the call. `isNews` is true if this call found that the run had crashed. */
  | { readonly kind: 'served'; readonly isNews: boolean; readonly run: StoredRun }
  /** The owner does not hold the lock of the job, or its run has ended already. */
  | { readonly kind: 'lost' }

export interface JobOutcome {
  readonly token: number
  readonly state: 'done' | 'failed'
  /** JSON text; '' for no result. */
  readonly result: string
  /** The error as a text; '' for no error. */
  readonly error: string
  /** True if the run serves no call, so that another run may begin at once. */
  readonly forgets: boolean
  readonly keepMs: number
  readonly mostRuns: number
}

export type Finished =
  | { readonly kind: 'stored'; readonly durationMs: number }
  /** Another run has begun, or the record is gone. Nothing is stored. */
  | { readonly kind: 'replaced' }

/** One run, as the server stores it. Times are in µs of the server's time. */
export interface StoredRun {
  readonly token: number
  readonly owner: string
  readonly by: string
  readonly state: 'running' | 'done' | 'failed' | 'crashed'
  readonly startedUs: number
  /** Undefined while the run has no known end. For a run that crashed: when another call found the crash. */
  readonly endedUs?: number
  readonly untilUs: number
  readonly missed: number
  readonly tick?: number
  readonly everyMs?: number
  readonly result?: string
  readonly error?: string
}

export interface JobFacts {
  readonly nowUs: number
  /** Null if the job has never run, or if its record is gone. */
  readonly run: StoredRun | null
  /** True if the owner of the last run holds the lock of the job. */
  readonly isHeld: boolean
  /** The last runs that have ended, newest first. */
  readonly ended: readonly StoredRun[]
}

/**
 * Returns the record of a job.
 *
 * @param isOnce true for work of `runOnce`. The tools do not list such records, because there is one for each key
 */
export type JobServer = (rawName: string, isOnce: boolean) => RemoteJob

/** A job uses a plain lock and a record of its runs. So its name belongs to a lock. */
export const JOB: ServerKind<JobServer> = { name: 'job', what: LOCK_WORDS }
