// Finds the faults that may explain an observation.

/** The client of a fault, from a text like "client 2, 1 of 3 ways"; undefined if the fault concerns all clients. */
export function clientOf({ what, where, process }) {
  return /\bclient \d+/.exec(process ?? `${what}, ${where}`)?.[0]
}

/**
 * @param faults with `from` and `to`
 * @param after for how long after its end a fault has an effect, in milliseconds
 * @returns a function: true if a fault had an effect between two times, on a server or on one of the given processes
 */
export function disturbances(faults, after) {
  const sorted = [...faults].sort((a, b) => a.from - b.from)
  const overBy = []
  for (const { to } of sorted) overBy.push(Math.max(to, overBy.at(-1) ?? -Infinity))
  return (from, to, ...processes) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sorted[middle].from <= to) low = middle + 1
      else high = middle
    }
    for (let i = low - 1; i >= 0 && overBy[i] + after >= from; i--) {
      const one = sorted[i]
      if (one.to + after < from) continue
      const client = clientOf(one)
      if (client === undefined) return true
      if (processes.some((process) => process.startsWith(`${client}.`))) return true
    }
    return false
  }
}

/** The times between faults: `{ from, to, after }`. `after` has the faults that ended shortly before. */
export function calmStretches(faults, begin, end, leastMs) {
  const stretches = []
  let at = begin
  let recent = []
  const add = (to) => {
    if (to - at >= leastMs) stretches.push({ from: at, to, after: recent })
  }
  for (const fault of [...faults].sort((a, b) => a.from - b.from)) {
    if (fault.from > end) break
    if (fault.from > at) add(fault.from)
    // Faults that ended shortly before still have an effect.
    recent = [...recent.filter(({ to }) => to > fault.to - 2_000), fault]
    at = Math.max(at, fault.to)
  }
  add(end)
  return stretches
}
