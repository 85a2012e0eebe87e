import { LeaseLostError, type Words } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import type { RunRecord } from '../../run-record.ts'
import type { JobOutcome, JobStart, RemoteJob } from '../../servers/job-server.ts'
import { dateOf, recordOf } from './job-info.ts'
import type { Jobs } from './jobs.ts'

/** The function of a job receives this object. */
export interface JobRun {
  /** The name that `job` or `runOnce` received. */
  readonly name: string
  /** The fencing token of the run. Each run has a greater token than the runs before. Pass it with each write. */
  readonly token: number
  /** Aborts when the run loses its lock: its lease is lost, `atMostMs` has passed, or the client is closed. */
  readonly signal: AbortSignal
  /** When the run began, in the time of the server. */
  readonly startedAt: Date
  /** How many ticks passed without a run before this run. 0 if the job has no `everyMs`. */
  readonly missed: number
  /** The earlier run, if this call found that it had crashed; otherwise null. */
  readonly crashed: RunRecord | null
}

/** How a call of `run` or `runOnce` ended. If the function throws, the call rejects with the same error instead. */
export type RunOutcome<T> =
  | {
      readonly ran: true
      readonly result: T
      /** From the start to the end of the function, in milliseconds of the server's time. */
      readonly durationMs: number
    }
  | {
      readonly ran: false
      /** `running`: another call runs the job. `served`: an earlier run serves this call. */
      readonly why: 'running' | 'served'
      /** The run that serves this call; null if another call still runs the job. */
      readonly run: RunRecord | null
    }

/**
 * The decisions of one call.
 *
 * @internal
 */
export interface RunTerms {
  readonly name: string
  readonly atLeastMs: number
  readonly everyMs: number
  readonly tick: number | undefined
  readonly repeats: boolean
  /** True if a run that failed is not stored, so that the next call may run at once. */
  readonly forgetsFailure: boolean
  readonly keepMs: number
  readonly mostRuns: number
  /** When the call began, in ms on the monotonic clock. */
  readonly calledAt: number
}

/** The longest JSON text of a result that is stored, in characters. */
const LONGEST_RESULT = 10_000
const LONGEST_ERROR = 1_000

const WORDS: Words = { noun: 'Job', unavailable: 'It is unknown if the job has run.' }

/**
 * Runs the function of a job if no earlier run serves the call. The caller holds the lock of the job.
 *
 * @internal
 */
export class RunOnce<T> {
  readonly #jobs: Jobs
  readonly #remote: RemoteJob
  readonly #terms: RunTerms
  readonly #work: (run: JobRun) => Promise<T> | T

  constructor(
    jobs: Jobs,
    remote: RemoteJob,
    terms: RunTerms,
    work: (run: JobRun) => Promise<T> | T,
  ) {
    this.#jobs = jobs
    this.#remote = remote
    this.#terms = terms
    this.#work = work
  }

  readonly withLease = async (lease: Lease): Promise<RunOutcome<T>> => {
    const { name } = this.#terms
    const begun = await this.#startRun(lease)
    if (begun.kind === 'lost') {
      lease.assertValid()
      throw new LeaseLostError(
        `Job "${name}": its lock was lost before the run began.`,
        name,
        'gone',
        lease.token,
      )
    }
    if (begun.kind === 'served') {
      const run = recordOf(begun.run)
      if (begun.isNews) this.#jobs.crashed({ name, run, isRepeated: false })
      return { ran: false, why: 'served', run }
    }
    const crashed = begun.crashed && recordOf(begun.crashed)
    if (crashed !== null) {
      this.#jobs.crashed({ name, run: crashed, isRepeated: this.#terms.repeats })
    }
    const { token, signal } = lease
    const startedAt = dateOf(begun.startedUs)
    let result: T
    try {
      const { missed } = begun
      result = await this.#work({ name, token, signal, startedAt, missed, crashed })
    } catch (error) {
      await this.#storeFailure(token, error)
      throw error
    }
    const finished = await this.#finish({ token, state: 'done', result: jsonOf(result) })
    const durationMs = finished.kind === 'stored' ? finished.durationMs : 0
    return { ran: true, result, durationMs }
  }

  #startRun({ owner, token }: Lease) {
    const { atLeastMs, everyMs, tick, repeats, keepMs, mostRuns, calledAt } = this.#terms
    const { label, registry } = this.#jobs
    const waitedMs = () => registry.clock.monotonic() - calledAt
    const start: JobStart = {
      owner,
      token,
      by: label,
      atLeastMs,
      everyMs,
      tick: tick ?? '',
      repeats,
      waitedMs,
      keepMs,
      mostRuns,
    }
    return this.#request('not begun', (callMs) => this.#remote.startRun(start, callMs))
  }

  /** Stores the error of the function. The caller gets this error, even if the server does not store it. */
  async #storeFailure(token: number, error: unknown): Promise<void> {
    try {
      await this.#finish({ token, state: 'failed', error: textOf(error) })
    } catch (failure) {
      this.#jobs.registry.emit('error', failure as Error)
    }
  }

  #finish({ state, ...rest }: Pick<JobOutcome, 'token' | 'state'> & Partial<JobOutcome>) {
    const { forgetsFailure, keepMs, mostRuns } = this.#terms
    const forgets = forgetsFailure && state === 'failed'
    const outcome: JobOutcome = { result: '', error: '', ...rest, state, forgets, keepMs, mostRuns }
    return this.#request('it has ended, but its end was not stored', (callMs) =>
      this.#remote.finishRun(outcome, callMs),
    )
  }

  #request<A>(failed: string, call: (callMs: number) => Promise<A>): Promise<A> {
    return this.#jobs.registry.request(this.#terms.name, failed, call, WORDS)
  }
}

/** Returns the result as JSON; '' if it is undefined, has no JSON, or is too long. */
function jsonOf(result: unknown): string {
  try {
    const json = JSON.stringify(result) ?? ''
    return json.length > LONGEST_RESULT ? '' : json
  } catch {
    return ''
  }
}

function textOf(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    if (text !== '') return text.slice(0, LONGEST_ERROR)
  } catch {
    // The error cannot be a text, such as an object without a prototype.
  }
  return 'an error without a text'
}
