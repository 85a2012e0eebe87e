// The code that callers of all kinds share: options of an acquisition, its report, and a check that it settles in
// time.
import { setTimeout as pause } from 'node:timers/promises'
import { now, pickWeighted } from '../random.mjs'
import { Work } from '../work.mjs'

/** The longest time that a candidate that stands again may lose to outages, in milliseconds. */
const LONGEST_OUTAGES_MS = 30_000

export class BaseCaller {
  /** The state from client.mjs: its present client and era, its settings, its witness, its tally. */
  process
  number
  work

  constructor(process, number) {
    this.process = process
    this.number = number
    this.work = new Work(process)
  }

  /**
   * Chooses the options of an acquisition.
   *
   * @param isOwn true if few callers share the lock, so that most attempts succeed
   */
  acquisition(isOwn) {
    const { random, options, isQuorum } = this.process
    const fixed = random() < 0.4 ? { leaseMs: Math.round(options.leaseMs * (0.3 + random())) } : {}
    if (isQuorum && fixed.leaseMs > options.longestLeaseMs) fixed.leaseMs = options.longestLeaseMs
    const aborts = isOwn ? 0.1 : 1
    const within = (ms) => ({ ...fixed, waitMs: 3_000, signal: AbortSignal.timeout(ms) })
    const kind = pickWeighted(random, [
      [2, () => ({ ...fixed, waitMs: 1 + Math.floor(random() * 3_000) })],
      [1, () => fixed],
      [aborts, () => within(1 + Math.floor(random() * 400))],
      // The abort happens at about the time of the answer.
      [0.5 * aborts, () => within(Math.floor(random() * 4))],
    ])
    return kind()
  }

  /** How long the work under a hold takes, in milliseconds. */
  workMs(isOwn) {
    const { random, options, broken } = this.process
    return pickWeighted(random, [
      [60, 0],
      [isOwn ? 0 : 30, random() * 5],
      [0.6, random() * 300],
      // With `--break validity`, a holder works for longer than its lease, so that the judge finds it.
      [broken === 'validity' ? 5 : 0.1, options.leaseMs * (0.5 + random())],
    ])
  }

  /**
   * Runs `job` and reports its failure. Then reports the result of the attempt to the witness, unless `job` has
   * reported it.
   *
   * @param attempt `{ name, meant, ids, entries, result, isSettled }`
   */
  async settled(attempt, job) {
    const { witness, heard, random } = this.process
    const { meant } = attempt
    const watch = this.#watch(attempt)
    try {
      await job()
    } catch (error) {
      if (meant.signal?.aborted && error === meant.signal.reason) attempt.result = 'aborted'
      heard(error, meant)
      await pause(random() * 20)
    } finally {
      attempt.isSettled = true
      clearInterval(watch)
      const had = new Set(attempt.entries.map(({ id }) => id))
      const { result } = attempt
      for (const id of attempt.ids) if (!had.has(id)) void witness.tell('settle', id, { result })
    }
  }

  /** Reports a violation if an attempt does not settle in time. */
  #watch(attempt) {
    const { options, violation, lateMs } = this.process
    const { name, meant } = attempt
    const [startedAt, lateBefore] = [now(), lateMs()]
    // Each time that a candidate stands again, its time limit for outages begins again. So several outages add up.
    const outagesMs = meant.again ? LONGEST_OUTAGES_MS : options.outageMs
    const boundMs = (meant.waitMs ?? 0) + outagesMs + 1_500
    const watch = setInterval(() => {
      const mostMs = boundMs + 2 * (lateMs() - lateBefore) + 3_000
      if (attempt.isSettled || now() - startedAt < mostMs) return
      clearInterval(watch)
      const took = (now() - startedAt).toFixed(0)
      violation(`${name}: ${JSON.stringify(meant)} is not settled after ${took} ms`)
    }, 500)
    return watch
  }

  granted(attempt, entries) {
    attempt.isSettled = true
    attempt.entries.push(...entries)
  }

  refused(attempt) {
    attempt.result = 'refused'
    this.process.tally.refused += 1
  }
}
