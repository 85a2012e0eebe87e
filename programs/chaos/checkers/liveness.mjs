// Where nothing is wrong any more, who waits for a lock gets in.
import { calmStretches } from './disturbances.mjs'

/**
 * How long it may take after a fault of a kind, in milliseconds, until somebody is let in. Each bound is
 * the sum of what can be in the way (the rest of a lease, a claim window, the wait before a reconnect)
 * and several seconds for a machine that is busy.
 */
const BOUNDS = [
  // Sentinels and clients must agree on the new master. The waiters join the queue there again.
  [/failover|^master/, 10_000],
  // Of a process that died, the leases; of one that was frozen, its places in the queue: some 5 s.
  [/\bkilled$/, 7_000],
  [/\b(paused|stalled|late)$/, 9_000],
  // A client asks again at once, or with the next try to connect.
  [/^(cut|refuse|slow)/, 6_000],
  [/^(black hole|requests|replies)/, 7_000],
  // A master of a quorum that forgot rests for the longest lease.
  [/^(emptied|restarted|key deleted)/, 9_000],
  // What is abandoned ends later by as much as a clock was set back.
  [/^clock/, 10_000],
]
const OTHER_MS = 8_000
/** No fault at all, and a holder that works for as long as any. */
const CALM_MS = 6_000

export function boundOf({ what }) {
  return BOUNDS.find(([pattern]) => pattern.test(what))?.[1] ?? OTHER_MS
}

/** How long it may take after all of these. */
export const boundAfter = (faults) => Math.max(CALM_MS, ...faults.map(boundOf))

/** The stretches without a fault that are long enough, with the bound of each. */
export function stretchesOf({ faults, about }) {
  // A process that is late for a moment is within the bounds.
  const felt = faults.filter((one) => !one.measured || one.to - one.from > 1_000)
  return calmStretches(felt, about.startedAt, about.calmAt, CALM_MS).flatMap((one) => {
    const boundMs = boundAfter(one.after)
    return one.to - one.from > boundMs ? [{ ...one, boundMs }] : []
  })
}

/**
 * @param history up to `about.calmAt`, and from `about.startedAt`
 * @returns how many stretches without a fault were long enough, and where nobody was let in although
 * somebody waited for longer than the bound. The time in which a process did not run, because the machine was
 * overloaded, does not count: a holder that does not run keeps its lock for longer.
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
    // Who was killed waits no more.
    const waits = all
      .filter((one) => one.waits && one.settledAt !== undefined)
      .sort((a, b) => a.askedAt - b.askedAt)
    for (const stretch of stretches) {
      const inside = grants.filter((at) => at > stretch.from && at < stretch.to)
      const cuts = [stretch.from, ...inside, stretch.to]
      for (let i = 1; i < cuts.length; i++) {
        const inAllMs = timeWaited(waits, cuts[i - 1], cuts[i])
        // A shorter wait changes nothing, and there are many.
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
 * `[lock, mode, attempts]`: each side of a read-write lock by itself, for readers that come and go say nothing of a writer
 * that waits. Who re-enters was inside already. Those who await a latch or
 * a barrier wait for others, and are judged by its rounds.
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

/** For how long somebody waited at all between two times. */
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

/** The times that these cover, in order and without overlaps. */
function unionOf(times) {
  const all = []
  for (const { from, to } of [...times].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else all.push({ from, to })
  }
  return all
}

/** How much of the time between two times such times cover, in milliseconds. */
function overlapOf(times, from, to) {
  return times.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)),
    0,
  )
}
