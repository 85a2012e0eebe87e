import type { Public } from '../../kit/public.ts'
import { assertFunction } from '../../options/input.ts'
import type { JobFacts, RemoteJob } from '../../servers/job-server.ts'
import { type JobSettings, type RunOptions, runOptions } from './job-arguments.ts'
import { infoOf, type JobInfo } from './job-info.ts'
import type { Jobs } from './jobs.ts'
import { type JobRun, RunOnce, type RunOutcome } from './run-once.ts'

/** For how long the record of a job is kept after its last run, in milliseconds: 30 days, or twice its `atLeastMs`. */
const KEPT_MS = 30 * 24 * 3_600_000

/** A call that finds the lock held looks this often if a run is the reason, with such a wait in between. */
const LOOKS = 5
const LOOK_MS = 100

/** How many ended runs the server keeps, and `inspect()` returns. */
const MOST_RUNS = 100

/**
 * A job that several processes schedule, and that one of them runs. Each process calls `run()` at each tick of its own
 * scheduler. The job has no timer. It uses the lock `job:<name>`, and stores a record of its runs on the server.
 *
 * The server's clock decides if two calls belong to one tick, except for calls with a `tick`. A run whose process is
 * frozen can overlap with the next run, so pass the token of the run with each write.
 */
export interface Job extends Public<HoldfastJob> {}

/** The object behind a {@link Job}. */
export class HoldfastJob {
  /** The name that `job` received. */
  readonly name: string
  readonly #lockName: string
  readonly #remote: RemoteJob
  readonly #settings: JobSettings
  readonly #jobs: Jobs

  /** @internal */
  constructor(
    name: string,
    lockName: string,
    remote: RemoteJob,
    settings: JobSettings,
    jobs: Jobs,
  ) {
    this.name = name
    this.#lockName = lockName
    this.#remote = remote
    this.#settings = settings
    this.#jobs = jobs
  }

  /**
   * Runs the function, unless another run serves this tick. While the function runs, the client renews the lease of the
   * job's lock. `close()` releases the lock, but another run still begins only after `atLeastMs`.
   *
   * @param fn the function receives the {@link JobRun}: its token, its signal, and an earlier run that has crashed
   * @returns the result of the function, or why the function did not run. Rejects with the error of the function. Then
   * the record shows the error, and the tick is not repeated. Rejects with `LeaseLostError` if the lock was lost during
   * the run, and with `InvalidArgumentError` for invalid input. Rejects with `RedisUnavailableError` or
   * `RedisRefusedError` if Redis was down for `outageMs`: before the run, or when its end was to be stored. Rejects
   * with `ClosedError` after `close()`
   */
  async run<T>(
    fn: (run: JobRun) => Promise<T> | T,
    options: RunOptions = {},
  ): Promise<RunOutcome<T>> {
    assertFunction(fn)
    const { tick, signal } = runOptions(this.name, options, this.#settings)
    const { busy, registry } = this.#jobs
    const running = { ran: false, why: 'running', run: null } as const
    if (busy.has(this.name)) return running
    const { atLeastMs, atMostMs, everyMs, ifCrashed } = this.#settings
    const lock = this.#jobs.newLock(this.#lockName)
    const repeats = ifCrashed === 'repeat'
    const terms = {
      name: this.name,
      atLeastMs,
      everyMs,
      tick,
      repeats,
      forgetsFailure: false,
      keepMs: Math.max(KEPT_MS, 2 * atLeastMs),
      mostRuns: MOST_RUNS,
      calledAt: registry.clock.monotonic(),
    }
    const { withLease } = new RunOnce(this.#jobs, this.#remote, terms, fn)
    const limits = { maxHoldMs: atMostMs, ...(signal && { signal }) }
    busy.add(this.name)
    try {
      if (repeats) return await lock.using(withLease, { ...limits, waitMs: Infinity })
      let outcome = await lock.tryUsing(withLease, { ...limits, otherwise: running })
      // The holder may only check that an earlier run serves its call, perhaps for an older tick.
      for (let looks = 0; looks < LOOKS && outcome === running; looks++) {
        if (await this.#isRunning()) break
        const once = { ...limits, waitMs: LOOK_MS, otherwise: running }
        outcome = await lock.tryUsing(withLease, once)
      }
      return outcome
    } finally {
      busy.delete(this.name)
    }
  }

  /**
   * Returns the last run, up to 100 runs that have ended, and how many ticks were missed since the last run.
   *
   * @returns rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis does not answer for `outageMs`, and
   * with `ClosedError` after `close()`
   */
  async inspect(): Promise<JobInfo> {
    return infoOf(await this.#facts(MOST_RUNS))
  }

  async #isRunning(): Promise<boolean> {
    const { run, isHeld } = await this.#facts(0)
    return isHeld && run?.state === 'running'
  }

  #facts(most: number): Promise<JobFacts> {
    return this.#jobs.registry.request(this.name, 'not inspected', (callMs) =>
      this.#remote.inspect(most, callMs),
    )
  }
}
