// Checks that waiters acquire the lock when no fault is active.
import { calmStretches } from './disturbances.mjs'

/**
 * For each kind of fault: the longest time after its end until a waiter must acquire the lock, in milliseconds. Each
 * bound is the sum of the possible delays and several seconds for a busy machine. Possible delays are the rest of a
 * lease, a claim window and the pause before a reconnect.
 */
const BOUNDS = [
  // Sentinels and clients must agree on the new master. The waiters then join the queue again.
  [/failover|^master/, 10_000],
  // The leases of a killed process must end. The places of a frozen process must end, after 5 s.
  [/\bkilled$/, 7_000],
  [/\b(paused|stalled|late)$/, 9_000],
  // A client asks again immediately, or after its next attempt to connect.
  [/^(cut|refuse|slow)/, 6_000],
  [/^(black hole|requests|replies)/, 7_000],
  // A master of a quorum that forgot its data rests for the longest lease.
  [/^(emptied|restarted|key deleted)/, 9_000],
  // If a clock was set back, abandoned locks end later by the same time.
  [/^clock/, 10_000],
]
const OTHER_MS = 8_000
/** The bound without a fault. It covers the longest work of a holder. */
const CALM_MS = 6_000

export function boundOf({ what }) {
  return BOUNDS.find(([pattern]) => pattern.test(what))?.[1] ?? OTHER_MS
}

/** The longest of the bounds of all these faults. */
export const boundAfter = (faults) => Math.max(CALM_MS, ...faults.map(boundOf))

/** The times without a fault that are long enough, each with its bound. */
export function stretchesOf({ faults, about }) {
  // The bounds cover a process that is late for a moment.
  const felt = faults.filter((one) => !one.measured || one.to - one.from > 1_000)
  return calmStretches(felt, about.startedAt, about.calmAt, CALM_MS).flatMap((one) => {
    const boundMs = boundAfter(one.after)
    return one.to - one.from > boundMs ? [{ ...one, boundMs }] : []
  })
}

/**
 * @param history from `about.startedAt` to `about.calmAt`
 * @returns the number of times without a fault that were long enough, and the locks with a finding. A finding means
 * that a waiter waited for longer than the bound while no waiter acquired the lock. The time in which an overloaded
 * machine did not run a process does not count, because the holder then keeps its lock for longer.
 */
export function judgeLiveness(history) {
  const { attempts } = history
  const stretches = stretchesOf(history)
  const verdict = { stretches: stretches.length, longestMs: 0, stuck: [] }
  const late = unionOf(history.faults.filter(({ measured }) => measured))
  for (const [lock, mode, all] of lanesOf(attempts)) {
    const grants = all
      .flatMap(({ result, settledAt }) => (result === 'granted' ? [settledAt] : []))
      .sort((a, b) => a - b)
    // A killed process no longer waits.
    const waits = all
      .filter((one) => one.waits && one.settledAt !== undefined)
      .sort((a, b) => a.askedAt - b.askedAt)
    for (const stretch of stretches) {
      const inside = grants.filter((at) => at > stretch.from && at < stretch.to)
      const cuts = [stretch.from, ...inside, stretch.to]
      for (let i = 1; i < cuts.length; i++) {
        const inAllMs = timeWaited(waits, cuts[i - 1], cuts[i])
        // A shorter wait changes nothing. There are many short waits.
        if (inAllMs <= Math.min(verdict.longestMs, stretch.boundMs)) continue
        const waitedMs = Math.max(0, inAllMs - overlapOf(late, cuts[i - 1], cuts[i]))
        verdict.longestMs = Math.max(verdict.longestMs, waitedMs)
        if (waitedMs <= stretch.boundMs) continue
        const after = stretch.after.map(({ what }) => what)
        const { boundMs } = stretch
        verdict.stuck.push({ lock, mode, from: cuts[i - 1], waitedMs, boundMs, after })
      }
    }
  }
  return verdict
}

/**
 * `[lock, mode, attempts]`: each side of a read-write lock is judged separately, because readers that succeed prove
 * nothing about a waiting writer. Re-entries are left out, because their owner was already inside. Calls that await a
 * latch or a barrier wait for others, so the judge of the rounds judges them.
 */
function* lanesOf(attempts) {
  for (const [lock, all] of attempts) {
    const { family } = all[0]
    if (family === 'latch' || family === 'barrier') continue
    if (family !== 'read-write') {
      yield [lock, undefined, all]
      continue
    }
    for (const mode of ['read', 'upgradable', 'write']) {
      yield [lock, mode, all.filter((one) => one.mode === mode && one.within === undefined)]
    }
  }
}

/** For how long at least one waiter waited between two times. */
function timeWaited(waits, from, to) {
  if (to - from < CALM_MS / 6) return to - from
  let waited = 0
  let at = from
  for (const { askedAt, settledAt = Infinity } of waits) {
    if (askedAt >= to) break
    const end = Math.min(settledAt, to)
    if (end <= at) continue
    waited += end - Math.max(at, askedAt)
    at = end
  }
  return waited
}

/** The union of these times, in order and without overlaps. */
function unionOf(times) {
  const all = []
  for (const { from, to } of [...times].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else all.push({ from, to })
  }
  return all
}

/** How much of the time between two times these times cover, in milliseconds. */
function overlapOf(times, from, to) {
  return times.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)),
    0,
  )
}
