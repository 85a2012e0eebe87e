/** One run of a job, as the server stores it. All times are times of the server. */
export interface RunRecord {
  /**
   * `running`: the function has not ended. `done`: the function returned. `failed`: the function threw. `crashed`: the
   * process no longer holds the lock of the job, and has not stored an end. It has crashed, was closed, or lost its
   * lease.
   */
  readonly state: 'running' | 'done' | 'failed' | 'crashed'
  /** The fencing token of the run. Each run has a greater token than the runs before. */
  readonly token: number
  /** The `label` of the client that runs or ran the job. */
  readonly by: string
  /** The owner that holds or held the lock of the job. */
  readonly owner: string
  readonly startedAt: Date
  /** When the run ended. For a run that crashed: when another call found the crash. Null if no end is stored. */
  readonly endedAt: Date | null
  /** From the start to the end, in milliseconds. Null for a run without a stored end, and for a run that crashed. */
  readonly durationMs: number | null
  /** The scheduled time; null if the call gave none. */
  readonly tick: Date | null
  /** How many ticks passed without a run before this run. 0 if the job has no `everyMs`. */
  readonly missed: number
  /** The result of the function, after JSON. Undefined if there is none, or if its JSON was too long. */
  readonly result: unknown
  /** The name and the message of the error; null if the function did not throw. */
  readonly error: string | null
}
