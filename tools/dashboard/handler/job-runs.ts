import type { JobInfo, RunRecord } from '../../../src/index.ts'

/** The most ended runs in the detail of a job. */
const RUNS_OF_DETAIL = 10
/** A longer result is cut to this number of characters. */
const LONGEST_RESULT = 1_000

/** One run of a job. All times are in milliseconds since 1970, by the clock of the server. */
interface JobRunRow {
  readonly state: RunRecord['state']
  readonly by: string
  readonly startedAt: number
  readonly durationMs: number | null
  readonly tick: number | null
  /** The result as JSON text. Null if unknown. */
  readonly result: string | null
  readonly error: string | null
}

/** The runs of a job, for its panel. */
export interface JobRuns {
  readonly last: JobRunRow | null
  readonly missed: number
  /** The last runs that have ended, newest first, without results. */
  readonly ended: readonly JobRunRow[]
}

/** @returns null for other kinds */
export function jobRunsOf(job: JobInfo | undefined): JobRuns | null {
  if (job === undefined) return null
  const { last, missed, ended } = job
  const shown = ended.slice(0, RUNS_OF_DETAIL)
  return {
    last: last && rowOfRun(last),
    missed,
    ended: shown.map((run) => ({ ...rowOfRun(run), result: null })),
  }
}

function rowOfRun({ state, by, startedAt, durationMs, tick, result, error }: RunRecord): JobRunRow {
  const json = result === undefined ? null : JSON.stringify(result)
  const isLong = json !== null && json.length > LONGEST_RESULT
  return {
    ...{ state, by, durationMs, error },
    startedAt: startedAt.getTime(),
    tick: tick?.getTime() ?? null,
    result: isLong ? `${json.slice(0, LONGEST_RESULT)}…` : json,
  }
}
