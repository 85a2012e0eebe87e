import { refuseDetached } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { HoldfastJob, type Job } from '../locks/job/job.ts'
import {
  type JobOptions,
  jobSettings,
  type OnceOptions,
  onceOptions,
} from '../locks/job/job-arguments.ts'
import type { Jobs } from '../locks/job/jobs.ts'
import { type JobRun, RunOnce, type RunOutcome } from '../locks/job/run-once.ts'
import { HoldfastLock } from '../locks/lock/holdfast-lock.ts'
import { plainKind } from '../locks/lock/plain-kind.ts'
import { assertFunction } from '../options/input.ts'
import type { RunRecord } from '../run-record.ts'
import { JOB, type RemoteJob } from '../servers/job-server.ts'
import { type KindDescriptor, needsOneServer } from './kind.ts'

export interface JobMethods {
  /**
   * Returns a job that several processes schedule, and that one of them runs at each tick. The job has no timer: call
   * its `run()` from `node-cron`, `croner`, `setInterval` or another scheduler in each process.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name or option, and with `masters`, because one server must store the
   * runs
   */
  job(name: string, options?: JobOptions): Job
  /**
   * Runs the function at most once for a key, over all processes. A call for the same key waits while another call runs
   * the function, and then returns its record. If the function throws, the next call runs it again.
   *
   * @param name the name of the work; as for {@link getLock}
   * @param key identifies the piece of work, such as the id of an order; not empty
   * @returns the result of the function, or the record of the run that serves this key. Rejects with the error of the
   * function, with `WaitTimeoutError` at the end of `waitMs`, and with `signal.reason` when aborted. Also rejects for
   * the same reasons as `run()` of a job
   */
  runOnce<T>(
    name: string,
    key: string,
    fn: (run: JobRun) => Promise<T> | T,
    options: OnceOptions,
  ): Promise<RunOutcome<T>>
  /**
   * Returns the last run of a job: when it began and ended, in which client, and its result or error.
   *
   * @returns null if the job has never run, or not for 30 days. Rejects for the same reasons as `inspect()` of a job
   */
  lastRun(name: string): Promise<RunRecord | null>
}

/** Two different pairs of a name and a key have different locks, even if the name or the key contains `:`. */
function onceLock(name: string, key: string): string {
  const escaped = name.replaceAll('%', '%25').replaceAll(':', '%3A')
  return `once:${escaped}:${key}`
}

/** @internal */
export const job: KindDescriptor<JobMethods> = {
  names: ['job', 'runOnce', 'lastRun'],
  requests: JOB,
  open({ owners, backend: { registry }, label, requests, rawName }) {
    const recordOf = requests(JOB)
    const jobs: Jobs = {
      registry,
      label,
      busy: new Set(),
      newLock: (lockName) =>
        new HoldfastLock(lockName, rawName(lockName), owners.next(), registry, plainKind),
      crashed: (event) => registry.emit('jobCrashed', event),
    }
    const remoteOf = (name: string, lockName: string, isOnce: boolean): RemoteJob => {
      if (recordOf !== undefined) return recordOf(rawName(lockName), isOnce)
      throw needsOneServer(
        `Job ${show(name)}: its record needs one server`,
        'Use a',
        name,
        registry.limits.words,
      )
    }
    const open = (name: string, options: JobOptions = {}, ...others: unknown[]) => {
      rawName(name, 'job')
      const settings = jobSettings(name, options, others)
      const lockName = `job:${name}`
      return new HoldfastJob(name, lockName, remoteOf(name, lockName, false), settings, jobs)
    }
    return {
      methods: {
        job: open,
        async runOnce(name, key, fn, options) {
          rawName(name, 'job')
          rawName(key, 'key')
          assertFunction(fn)
          const { keepMs, ifCrashed, waitMs, signal } = onceOptions(name, options)
          const lockName = onceLock(name, key)
          const terms = {
            name,
            atLeastMs: keepMs,
            everyMs: 0,
            tick: undefined,
            repeats: ifCrashed === 'repeat',
            forgetsFailure: true,
            keepMs,
            mostRuns: 0,
            calledAt: registry.clock.monotonic(),
          }
          const { withLease } = new RunOnce(jobs, remoteOf(name, lockName, true), terms, fn)
          return jobs.newLock(lockName).using(withLease, {
            ...(waitMs !== undefined && { waitMs }),
            ...(signal && { signal }),
          })
        },
        async lastRun(name) {
          return (await open(name).inspect()).last
        },
      },
    }
  },
}

refuseDetached(HoldfastJob, 'job')
