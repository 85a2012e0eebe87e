import { derived } from '../calls/keys.ts'

/** The prefixes of the keys of jobs, and of the records of `runOnce`. */
export const JOB_NAMES = {
  job: 'holdfast_job',
  runs: 'holdfast_runs',
  once: 'holdfast_once',
} as const

/**
 * Returns the keys of a job. Its lock is the plain lock of the same name.
 *
 * @param isOnce true for work of `runOnce`
 */
export function jobKeys(rawName: string, isOnce = false) {
  return {
    lock: rawName,
    job: derived(isOnce ? JOB_NAMES.once : JOB_NAMES.job, rawName),
    runs: derived(JOB_NAMES.runs, rawName),
  }
}
