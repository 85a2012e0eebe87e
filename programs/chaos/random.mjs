/** Random numbers that depend only on the seed, on every machine (mulberry32). */
export function randomFrom(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns one of the values, by weight: `[[weight, value], …]`. */
export function pickWeighted(random, weighted) {
  const sum = weighted.reduce((total, [weight]) => total + weight, 0)
  let at = random() * sum
  for (const [weight, what] of weighted) {
    at -= weight
    if (at < 0) return what
  }
  return weighted.at(-1)[1]
}

export function pick(random, among) {
  return among[Math.floor(random() * among.length)]
}

/** The time in milliseconds, on a clock that all processes of one machine share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6

/** The time in ms since 1970 at which the clock of `now` was 0. */
export const epochMs = () => Date.now() - now()
