import { derived } from '../calls/keys.ts'

/** The prefixes of the keys of jobs. */
export const JOB_NAMES = { job: 'holdfast_job', runs: 'holdfast_runs' } as const

/** Returns the keys of a job. Its lock is the plain lock of the same name. */
export function jobKeys(rawName: string) {
  return {
    lock: rawName,
    job: derived(JOB_NAMES.job, rawName),
    runs: derived(JOB_NAMES.runs, rawName),
  }
}
