// Chooses the part of a run that the plot shows.

/** The whole run is shown if it is not longer than this. */
const LONGEST_MS = 75_000
const PART_MS = 20_000
const AROUND_MS = 5_000

/** The part of a long run around the first finding, or the part with the most activity if there are no findings. */
export function windowOf({ attempts, about }, findings) {
  const times = []
  for (const all of attempts.values()) {
    for (const { enteredAt } of all) if (enteredAt !== undefined) times.push(enteredAt)
  }
  times.sort((a, b) => a - b)
  const first = about.startedAt ?? times[0] ?? 0
  const last = Math.max(times.at(-1) ?? first, first + 1_000)
  if (last - first <= LONGEST_MS) return { from: first, to: last }
  if (findings.length > 0) {
    const from = Math.min(...findings.map((one) => one.from)) - AROUND_MS
    return { from, to: from + PART_MS }
  }
  let [best, most] = [first, 0]
  for (let i = 0, k = 0; i < times.length; i++) {
    while (times[k] < times[i] - PART_MS) k += 1
    if (i - k <= most) continue
    most = i - k
    best = times[k]
  }
  return { from: best, to: best + PART_MS }
}
