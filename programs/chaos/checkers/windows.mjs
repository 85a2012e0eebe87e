// The times in which a lock may be taken from its holder: force, a server that forgot, a failover.

/** The report of a window and the report of an attempt arrive on different connections. */
export const WINDOW_MARGIN_MS = 50

/**
 * Finds the windows that concern a lock.
 *
 * @returns a function that returns these windows between two times
 */
export function windowsOf(windows, lock) {
  const own = windows
    .filter((one) => one.lock === undefined || one.lock === lock)
    .sort((a, b) => a.from - b.from)
  if (own.length === 0) return () => own
  /** The latest end of all windows up to each window. */
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
 * From when on a hold without a lease is no longer judged, because a server may have forgotten it. If a clock is set,
 * such a hold does not end.
 *
 * @param attempts of that name, in the order of their requests
 * @returns Infinity if no server forgot
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

/** The attempts as they were known at a time. */
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
 * A server that takes over may lack the last write with its token. It then gives readers the token before. So until
 * the end of a window, a reader may get a lower token than tokens that were issued before. A writer may not.
 *
 * @param epochMs the time in ms since 1970 at 0 on the clock of the witness
 * @returns a function: for a time, the token below which tokens may be forgotten by then
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
