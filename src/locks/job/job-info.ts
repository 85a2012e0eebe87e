import type { RunRecord } from '../../run-record.ts'
import type { JobFacts, StoredRun } from '../../servers/job-server.ts'
import { missedTicks } from '../../servers/stored-run.ts'

/** The result of `inspect()` of a job. */
export interface JobInfo {
  /** The last run, even if it has not ended. Null if the job has never run, or not for 30 days. */
  readonly last: RunRecord | null
  /** The last runs that have ended, newest first. */
  readonly ended: readonly RunRecord[]
  /**
   * How many ticks have passed since the last run began, without another run. 0 while the job runs, and if the job has
   * no `everyMs`.
   */
  readonly missed: number
}

/** @internal */
export function recordOf(run: StoredRun): RunRecord {
  const { state, token, by, owner, startedUs, endedUs, tick, missed, result, error = null } = run
  const isOver = endedUs !== undefined
  return {
    state,
    token,
    by,
    owner,
    startedAt: dateOf(startedUs),
    endedAt: isOver ? dateOf(endedUs) : null,
    durationMs:
      isOver && state !== 'crashed' ? Math.max(0, Math.round((endedUs - startedUs) / 1_000)) : null,
    tick: tick === undefined ? null : new Date(tick),
    missed,
    result: result === undefined ? undefined : JSON.parse(result),
    error,
  }
}

/** @internal */
export function infoOf({ nowUs, run, isHeld, ended }: JobFacts): JobInfo {
  const records = ended.map(recordOf)
  if (run === null) return { last: null, ended: records, missed: 0 }
  const isRunning = run.state === 'running' && isHeld
  const state = run.state === 'running' && !isHeld ? 'crashed' : run.state
  const { everyMs = 0, startedUs } = run
  const missed = isRunning ? 0 : missedTicks(startedUs, nowUs, everyMs)
  return { last: recordOf({ ...run, state }), ended: records, missed }
}

/**
 * Converts a server time in µs.
 *
 * @internal
 */
export function dateOf(us: number): Date {
  return new Date(Math.floor(us / 1_000))
}
