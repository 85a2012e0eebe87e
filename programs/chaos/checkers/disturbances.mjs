// Which faults can be to blame for what.

/** The client that a fault concerns, as is said of it: "client 2, 1 of 3 ways"; undefined where it is all. */
export function clientOf({ what, where, process }) {
  return /\bclient \d+/.exec(process ?? `${what}, ${where}`)?.[0]
}

/**
 * @param faults with `from` and `to`
 * @param after how long a fault can be felt when it is over, in milliseconds
 * @returns whether one of them was at work between two times on a server, or on one of these processes
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

/** The times between faults: `{ from, to, after }`, `after` being those that were over last. */
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
    // What is felt still of faults just before.
    recent = [...recent.filter(({ to }) => to > fault.to - 2_000), fault]
    at = Math.max(at, fault.to)
  }
  add(end)
  return stretches
}
