// When a lock may be taken from its holder: force, a server that forgot, a failover.

/** The word of it and what it is about go different ways. */
export const WINDOW_MARGIN_MS = 50

/**
 * Those that concern a lock.
 *
 * @returns those of them between two times
 */
export function windowsOf(windows, lock) {
  const own = windows
    .filter((one) => one.lock === undefined || one.lock === lock)
    .sort((a, b) => a.from - b.from)
  if (own.length === 0) return () => own
  /** Until when all of them are over, up to each. */
  const overBy = []
  for (const { to } of own) overBy.push(Math.max(to, overBy.at(-1) ?? -Infinity))
  return (from, to) => {
    const between = []
    let [low, high] = [0, own.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (overBy[middle] < from - WINDOW_MARGIN_MS) low = middle + 1
      else high = middle
    }
    for (let i = low; i < own.length && own[i].from <= to + WINDOW_MARGIN_MS; i++) {
      if (own[i].to >= from - WINDOW_MARGIN_MS) between.push(own[i])
    }
    return between
  }
}

/**
 * From when on what has no lease is judged no more: a server may have forgotten it. A clock that was set takes nothing
 * from it.
 *
 * @param attempts of that name, in the order in which they were asked for
 * @returns Infinity where nothing was lost
 */
export function lostFrom(windows, lock, attempts) {
  const [{ askedAt = 0 } = {}] = attempts
  const lost = windows.filter(
    (one) =>
      !one.isClock &&
      (one.lock === undefined || one.lock === lock) &&
      one.to + WINDOW_MARGIN_MS >= askedAt,
  )
  return Math.min(...lost.map(({ from }) => from - WINDOW_MARGIN_MS))
}

/** What is known of attempts up to a time. */
export function knownUntil(attempts, until) {
  if (until === Infinity) return attempts
  return attempts.flatMap((one) => {
    if (one.askedAt >= until) return []
    const { result, settledAt = Infinity, releasedAt = Infinity, released, ...rest } = one
    const known = { ...rest }
    if (settledAt < until) Object.assign(known, { result, settledAt })
    if (releasedAt < until) Object.assign(known, { released, releasedAt })
    return [known]
  })
}

/**
 * A server that takes over may lack the last write, and with it the token of that: it gives readers the one before. So
 * what a reader is given may be below tokens that were issued before that was over. What a writer is given may not.
 *
 * @param epochMs the time in ms since 1970 at 0 on the witness's clock
 * @returns for a time, below which token others may be forgotten by then
 */
export function forgottenTokens(windows, epochMs) {
  const lost = windows
    .filter((one) => one.lock === undefined && !one.isClock)
    .sort((a, b) => a.from - b.from)
  return (at) => {
    let token = -Infinity
    for (const { from, to } of lost) {
      if (from - WINDOW_MARGIN_MS > at) break
      token = Math.max(token, (to + WINDOW_MARGIN_MS + epochMs) * 1_000)
    }
    return token
  }
}
