import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import {
  abortSignal,
  assertNoMore,
  leaseMs,
  orNoLimit,
  waitMs,
  wholeMs,
} from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'

/** The options of `job`. */
export interface JobOptions {
  /**
   * For this long after the start of a run, no other run begins, even if the run ends sooner, fails, or its client is
   * closed. In milliseconds. It must be longer than the difference between the clocks of the processes, plus the delays
   * of their timers and requests. It must be shorter than the interval of the schedule minus the same difference.
   * Without `atLeastMs`, each call of `run` needs a `tick`.
   *
   * @default 0
   */
  atLeastMs?: number
  /**
   * The longest duration of a run in milliseconds, at least 10. Before its end, the signal of the run aborts. After it,
   * another run may begin.
   *
   * @default Infinity
   */
  atMostMs?: number
  /**
   * The interval of the schedule, in milliseconds. With it, the records of runs show how many ticks were missed.
   *
   * @default unknown
   */
  everyMs?: number
  /**
   * Decides if a tick is repeated after its run has crashed. `skip`: the tick is not repeated, and the job runs at most
   * once per tick. `repeat`: the other calls for this tick wait until the run has ended. If the run crashes, one of
   * these calls repeats it, so the function must be safe to run twice.
   *
   * @default 'skip'
   */
  ifCrashed?: 'skip' | 'repeat'
}

/** The options of `run` of a job. */
export interface RunOptions {
  /**
   * The time for which the run was scheduled, as a `Date` or in ms since 1970. All processes must give the same time
   * for one tick. Then the job runs once per tick, however different the clocks of the processes are. If the last run
   * has a tick too, `atLeastMs` does not count.
   */
  tick?: Date | number
  /** Ends the wait for the job: the call rejects with `signal.reason`. Does not end a run that has begun. */
  signal?: AbortSignal
}

/** The options of `runOnce`. */
export interface OnceOptions {
  /** For how long the function does not run again for this key after its start, in milliseconds. */
  keepMs: number
  /**
   * `repeat`: after a crash, the next call runs the function again. `skip`: after a crash, the function does not run
   * again for this key within `keepMs`.
   *
   * @default 'repeat'
   */
  ifCrashed?: 'skip' | 'repeat'
  /**
   * The longest wait while another call runs the function, in milliseconds.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. Does not end a run that has begun. */
  signal?: AbortSignal
}

function crashedRule(value: unknown, what: string): 'skip' | 'repeat' {
  if (value === 'skip' || value === 'repeat') return value
  throw new InvalidArgumentError(`${what} must be 'skip' or 'repeat'; got ${show(value)}.`)
}

function tickRule(value: unknown, what: string): number {
  const ms = value instanceof Date ? value.getTime() : value
  if (Number.isSafeInteger(ms) && (ms as number) >= 0) return ms as number
  throw new InvalidArgumentError(
    `${what} must be a valid Date, or a whole number of milliseconds since 1970; got ${show(value)}.`,
  )
}

const msOrNone = (value: unknown, what: string) => (value === 0 ? 0 : wholeMs(value, what))

const readJob = shape('The options of job()', {
  atLeastMs: or(msOrNone, 0),
  atMostMs: or(orNoLimit(leaseMs), Infinity),
  everyMs: or(wholeMs, 0),
  ifCrashed: or(crashedRule, 'skip'),
})

const readRun = shape('The options of run()', { tick: tickRule, signal: abortSignal })

const readOnce = shape('The options of runOnce()', {
  keepMs: wholeMs,
  ifCrashed: or(crashedRule, 'repeat'),
  waitMs: waitMs('To look without waiting, use lastRun().'),
  signal: abortSignal,
})

/** @internal */
export type JobSettings = ReturnType<typeof readJob>

/** @internal */
export function jobSettings(name: string, options: unknown, others: readonly unknown[]) {
  assertNoMore(others)
  const settings = readJob(options)
  const { atLeastMs, everyMs } = settings
  if (everyMs === 0 || atLeastMs < everyMs) return settings
  throw new InvalidArgumentError(
    `Job ${show(name)}: \`atLeastMs\` must be below \`everyMs\`, or ticks are skipped; got ${atLeastMs} and ${everyMs}.`,
    name,
  )
}

/** @internal */
export function runOptions(name: string, options: unknown, { atLeastMs }: JobSettings) {
  const read = readRun(options)
  if (read.tick !== undefined || atLeastMs > 0) return read
  throw new InvalidArgumentError(
    `Job ${show(name)}: without \`atLeastMs\`, each call of run() needs a \`tick\`. Otherwise each process could run it.`,
    name,
  )
}

/** @internal */
export function onceOptions(name: string, options: unknown) {
  const read = readOnce(options)
  const { keepMs } = read
  if (keepMs !== undefined) return { ...read, keepMs }
  throw new InvalidArgumentError(
    `runOnce(${show(name)}, …) needs \`keepMs\`: for how long the key counts as done, in milliseconds.`,
    name,
  )
}
